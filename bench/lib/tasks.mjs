/** @import { Peer, Task } from './types.d.ts' */

/** The smallest real command, used to measure every launch. */
export const ECHO = 'echo hi';

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
