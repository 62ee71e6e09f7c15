import { checkPeer } from '../support/peers/check.js';

export { BusyError, NoWorkerError, WorkerLostError } from '../remote/for-fleet.js';
export {
  connectFleet,
  type Fleet,
  type FleetOptions,
  type Labelled,
  type OnWorker,
} from './fleet.js';
export type { BrokerOptions, TlsFiles } from './line/broker-options.js';
export type { WorkerInfo } from './messages.js';
export { serveNats, type WorkerService } from './worker.js';
export type { WorkerOptions } from './worker-options.js';

checkPeer('forkline/fleet', import.meta.url);
