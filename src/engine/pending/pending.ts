import { messageOf } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import { binding } from '../addon/loaded.js';
import type { Accepted, ChangeFacts, Reverted } from '../undo/changes.js';
import { changeFactsOf } from '../undo/journal.js';

/** The facts of changes that are not in effect. */
type PendingFacts = Omit<ChangeFacts, 'id' | 'state'>;

/**
 * Reads what commands would have changed.
 *
 * @param directory The directory with all held changes.
 * @throws {Error} They are gone, or can't be read.
 */
export async function readPending(directory: string, id: string): Promise<PendingFacts> {
  const { isReverted: _, ...facts } = changeFactsOf(await binding().readPending(directory, id));
  return facts;
}

/**
 * Puts changes into effect.
 *
 * @param paths Absolute paths, of which alone; undefined: all.
 * @throws {Error} They are gone, can't be read, or are being accepted or dropped.
 */
export function acceptPending(
  directory: string,
  id: string,
  paths: readonly string[] | undefined,
): Promise<Accepted> {
  return binding().acceptPending(directory, id, paths === undefined ? null : [...paths]);
}

/**
 * Drops changes.
 *
 * @param paths Absolute paths, of which alone; undefined: all.
 * @throws {Error} They are gone, can't be read, or are in use for longer than 2 seconds.
 */
export async function dropPending(
  directory: string,
  id: string,
  paths: readonly string[] | undefined,
): Promise<Reverted> {
  const until = performance.now() + LATE_MS;
  for (;;) {
    try {
      return await binding().dropPending(directory, id, paths === undefined ? null : [...paths]);
    } catch (error) {
      if (!IN_USE.test(messageOf(error)) || performance.now() > until) throw error;
    }
    await pause(PAUSE_MS);
  }
}

/** How long a sandbox may still be ending whose host is gone, in milliseconds. */
const LATE_MS = 2000;
const PAUSE_MS = 20;
const IN_USE = /^held changes \S+ are in use/;
