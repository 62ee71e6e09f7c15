/** @import { Peer, Task } from './types.d.ts' */
import { awaited, latency, throughput } from './floor.mjs';

/** The smallest real command, used to measure every launch. */
export const ECHO = 'echo hi';

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

/**
 * Runs `echo hi` and checks the output, since a fast wrong answer must not count.
 * @param {Peer} peer
 */
export async function echo(peer) {
  const text = await peer.run(ECHO);
  if (text.trim() !== 'hi') throw new Error(`${peer.name} answered ${JSON.stringify(text)}`);
  return undefined;
}

/**
 * @param {Peer} peer
 * @returns {Task}
 */
export const echoTask = (peer) => ({ name: peer.name, run: () => echo(peer) });

/**
 * Calls `start` `count` times, with at most `limit` unsettled promises.
 * @param {number} count
 * @param {number} limit
 * @param {() => Promise<unknown>} start
 */
export async function inFlight(count, limit, start) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await start();
  };
  await Promise.all(Array.from({ length: limit }, lane));
  return undefined;
}
