export { BusyError, NoWorkerError, WorkerLostError } from './errors.js';
export { Client } from './far/client.js';
export { limitsOf, profilesOf, SERVE_OPTION_NAMES, type ServeOptions } from './far/options.js';
export type { FarService } from './far/stdio.js';
export { Connection, nearBytes } from './near/connection.js';
export { type FarCommandOptions, type FarSpawnOptions, neverStartedFar } from './near/machine.js';
export type { FarToolOptions } from './near/tool.js';
export type { Link } from './wire/link.js';
export { fieldsOf, mismatchOfFields, type ShapeFields } from './wire/shapes.js';
