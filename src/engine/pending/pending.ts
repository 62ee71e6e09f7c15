import { binding } from '../addon/loaded.js';
import type { Accepted, ChangeFacts, Reverted } from '../undo/changes.js';
import { unlessInUse } from '../undo/in-use.js';
import { changeFactsOf } from '../undo/journal.js';

/** The facts of changes that are not in effect. */
export type PendingFacts = Omit<ChangeFacts, 'id' | 'state'>;

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
export async function acceptPending(
  directory: string,
  id: string,
  paths: readonly string[] | undefined,
): Promise<Accepted> {
  const only = paths === undefined ? null : [...paths];
  const { settled, ...rest } = await binding().acceptPending(directory, id, only);
  return { accepted: settled, ...rest };
}

/**
 * Drops some changes.
 *
 * @param paths Absolute paths, of which alone.
 * @throws {Error} They are gone, can't be read, or are in use for longer than 2 seconds.
 */
export async function dropPending(
  directory: string,
  id: string,
  paths: readonly string[],
): Promise<Reverted> {
  const drop = () => binding().dropPending(directory, id, [...paths]);
  const { settled, conflicts } = await unlessInUse(drop);
  return { reverted: settled, conflicts, lost: [] };
}

/** Removes all that is held by an id, unless it is in use. */
export async function removePending(directory: string, id: string): Promise<void> {
  await binding()
    .dropPending(directory, id, null)
    .catch(() => {});
}
