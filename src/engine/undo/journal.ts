import { binding } from '../addon/loaded.js';
import type { NativeChange, NativeChanges } from '../addon/native.js';
import type { Change, ChangeFacts, Reverted } from './changes.js';
import { unlessInUse } from './in-use.js';

/** The changes of one journal, or of several after one another. */
interface JournalFacts extends Omit<ChangeFacts, 'id'> {
  /** Whether all of it was reverted. */
  readonly isReverted: boolean;
}

/**
 * Reads what has become of files by the commands with these journals.
 *
 * @param directory The directory with all journals.
 * @param ids The journals, the oldest first.
 * @throws {Error} One of them is gone, or can't be read.
 */
export async function readJournals(
  directory: string,
  ids: readonly string[],
): Promise<JournalFacts> {
  return { state: 'made', ...changeFactsOf(await binding().readChanges(directory, [...ids])) };
}

/** Returns what the addon tells of changes. */
export function changeFactsOf(told: NativeChanges): Omit<JournalFacts, 'state'> {
  const { list, more, isComplete, isReverted, unseen, unrevertable } = told;
  const { created, changed, deleted, renamed } = told;
  // What has another mode alone is changed, too.
  const others = list.filter(({ kind }) => kind === 'mode').length;
  return {
    list: list.map(toChange),
    more,
    ...{ created, changed: changed + others, deleted, renamed },
    complete: isComplete,
    unseen,
    unrevertable,
    isReverted,
  };
}

/**
 * Puts back what was there before these commands.
 *
 * @param paths Absolute paths, of which alone; undefined: all.
 * @throws {Error} A journal is gone, can't be read, or is in use: its command runs, or it is being reverted.
 */
export async function revertJournals(
  directory: string,
  ids: readonly string[],
  paths: readonly string[] | undefined,
): Promise<Reverted> {
  const only = paths === undefined ? null : [...paths];
  return unlessInUse(() => binding().revertChanges(directory, [...ids], only));
}

function toChange(told: NativeChange): Change {
  const { kind, path, type = 'other', size = 0, sizeBefore = 0 } = told;
  switch (kind) {
    case 'created': {
      const { files } = told;
      return { kind, path, type, size, ...(files != null && { files }) };
    }
    case 'changed':
      return { kind, path, size, sizeBefore };
    case 'deleted':
      return { kind, path, type, sizeBefore };
    case 'renamed':
      return { kind, path, from: told.from ?? path, isChanged: told.isChanged ?? false };
    case 'mode':
      return { kind, path, mode: told.mode ?? 0, modeBefore: told.modeBefore ?? 0 };
    case 'attributes':
      return { kind, path };
  }
}
