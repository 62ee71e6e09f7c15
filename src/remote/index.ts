export { BusyError, type Lost, NoWorkerError, WorkerLostError } from './errors.js';
export type { Profiles, ServeOptions } from './far/options.js';
export type { Always } from './far/restriction.js';
export {
  type FarService,
  type ServeStreamOptions,
  serveStream,
} from './far/stdio.js';
export { type ConnectOptions, connect } from './near/connect.js';
export type { Connection } from './near/connection.js';
export { FarFileError } from './near/files/file-error.js';
export type { FarFiles } from './near/files/files.js';
export type { FarEntry, FarList, FarListing } from './near/files/listing.js';
export type { FarRange } from './near/files/reading.js';
export type { FarContent, FarWrite } from './near/files/writing.js';
export type { FarCommandOptions, FarSpawnOptions } from './near/machine.js';
export type { FarPorts, ForwardOptions, ReverseOptions } from './near/ports/ports.js';
export type { RelayedPort } from './near/ports/relayed-port.js';
export type { FarToolOptions, HasMachine } from './near/tool.js';
export type { FarWorkspace } from './near/workspace/begin.js';
