import { hasCode } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import { lookFor } from './identity.js';
import type { KeeperState } from './keeper/keeper-state.js';

/** Time between two looks, in milliseconds. */
const LOOK_MS = 50;
/** The time after SIGKILL in milliseconds, after which a process counts as one that cannot be ended. */
const UNKILLABLE_MS = 10_000;

/**
 * Signals the process group of a command whose keeper was killed, as long as its own process certainly
 * exists.
 *
 * @returns Whether the signal was sent.
 */
export async function signalOrphan(state: KeeperState, signal: NodeJS.Signals): Promise<boolean> {
  if ((await lookFor(state, state.leader)) !== 'there') return false;
  try {
    process.kill(-state.leader.pid, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH') || hasCode(error, 'EPERM')) return false;
    throw error;
  }
}

/** Ends the process group of such a command: SIGTERM, grace period, SIGKILL. */
export async function endOrphan(state: KeeperState, graceMs: number): Promise<void> {
  if (!(await signalOrphan(state, 'SIGTERM'))) return;
  if (await isGoneWithin(state, graceMs)) return;
  await signalOrphan(state, 'SIGKILL');
  await isGoneWithin(state, UNKILLABLE_MS);
}

async function isGoneWithin(state: KeeperState, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  while ((await lookFor(state, state.leader)) === 'there') {
    if (performance.now() >= until) return false;
    await pause(LOOK_MS);
  }
  return true;
}
