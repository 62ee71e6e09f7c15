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
export type { FarCommandOptions, FarSpawnOptions } from './near/machine.js';
export type { FarToolOptions } from './near/tool.js';
