// Kills what runs a command, or records what it changes, while it does so.
import { setTimeout as sleep } from 'node:timers/promises';
import { allGone, descendants, keepersOf } from './hosts.mjs';

export const VICTIMS = /** @type {const} */ (['host', 'warden', 'keeper']);

/** @typedef {typeof VICTIMS[number]} Victim */

/**
 * Starts a command, and kills one of them after a while; then ends the host, and all that is left of it.
 *
 * @param {import('./hosts.mjs').Host} host
 * @param {object} request
 * @param {Victim} victim
 * @param {import('./random.mjs').Random} random
 * @returns What the host answered, unless it was killed.
 */
export async function runKilled(host, request, victim, random) {
  const answered = host.ask(request);
  await sleep(random.below(random.pick([5, 30, 120])));
  const started = descendants(host.pid);
  if (victim === 'host') {
    host.kill();
  } else {
    const among = keepersOf(host.pid, victim);
    const pid = among[random.below(among.length)];
    try {
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
  const told = await answered;
  const later = descendants(host.pid);
  await host.end();
  await allGone([...started, ...later]);
  return told;
}
