import { checkPeer } from '../support/peers/check.js';

export { BusyError, NoWorkerError, WorkerLostError } from '../remote/for-fleet.js';
export { connectFleet, type Fleet } from './fleet.js';
export type { FleetOptions, Labelled, OnWorker } from './fleet-options.js';
export type { BrokerOptions, TlsFiles } from './line/broker-options.js';
export type { WorkerInfo } from './messages.js';
export type { WaitingPlace } from './waiting.js';
export { serveNats, type WorkerService } from './worker.js';
export type { WorkerOptions } from './worker-options.js';

checkPeer('forkline/fleet', import.meta.url);
