/** @import { Task } from './types.d.ts' */
import { awaited, latency, throughput } from './floor.mjs';
import { ECHO } from './tasks.mjs';

export const FLOOR = 'floor';
export const LAUNCH_FLOOR = 'launch floor';
export const CRADLE_FLOOR = 'cradle floor';
export const AWAITED_FLOOR = 'cradle floor, awaited';

/** @type {readonly Task[]} */
export const floorEchoes = [
  { name: FLOOR, run: () => latency('spawn', ECHO) },
  { name: LAUNCH_FLOOR, run: () => latency('launch', ECHO) },
];

/**
 * The cost of forkline's structure in C++ alone.
 * @type {Task}
 */
export const cradleEcho = { name: CRADLE_FLOOR, run: () => latency('cradle', ECHO) };

/**
 * The same with a promise of Node's.
 * @type {Task}
 */
export const awaitedEcho = {
  name: AWAITED_FLOOR,
  run: async () => void (await awaited('cradle', ECHO)),
};

/**
 * @param {number} count
 * @param {number} limit
 * @returns {readonly Task[]}
 */
export const floorThroughputs = (count, limit) => [
  { name: FLOOR, run: () => throughput('spawn', ECHO, count, limit) },
  { name: LAUNCH_FLOOR, run: () => throughput('launch', ECHO, count, limit) },
  { name: CRADLE_FLOOR, run: () => throughput('cradle', ECHO, count, limit) },
];
