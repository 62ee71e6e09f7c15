import { messageOf } from '../../support/errors.js';
import { pause } from '../../support/timing.js';
import { binding } from '../addon/loaded.js';
import type { NativeChange, NativeChanges } from '../addon/native.js';
import type { Change, ChangeFacts, Reverted } from './changes.js';

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

/** How long a journal may still be written, in milliseconds, when its command has ended. */
const LATE_MS = 2000;
const PAUSE_MS = 20;

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
  const until = performance.now() + LATE_MS;
  const only = paths === undefined ? null : [...paths];
  for (;;) {
    try {
      return await binding().revertChanges(directory, [...ids], only);
    } catch (error) {
      if (!IN_USE.test(messageOf(error)) || performance.now() > until) throw error;
    }
    await pause(PAUSE_MS);
  }
}

const IN_USE = /^journal \S+ is in use/;

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
