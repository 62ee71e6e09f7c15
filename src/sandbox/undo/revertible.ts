import { resolve } from 'node:path';
import type { ChangeFacts, Changes, HeldChanges, Reverted } from '../../engine/undo/changes.js';
import { revertJournals } from '../../engine/undo/journal.js';
import { InputError, showValue } from '../../support/errors.js';
import { ChangesAsTold, NOTHING_REVERTED } from './elsewhere.js';
import { undoDirectory } from './store.js';

/** Changes whose journals lie in the user's state directory. */
export class RevertibleChanges extends ChangesAsTold<'made'> implements Changes {
  readonly #ids: readonly string[];
  readonly #cwd: string;

  /**
   * @param ids The journals, the oldest first; none: nothing was changed.
   * @param cwd The directory that paths are relative to.
   */
  constructor(facts: Omit<ChangeFacts, 'state'>, ids: readonly string[], cwd: string) {
    super('made', facts);
    this.#ids = ids;
    this.#cwd = cwd;
  }

  /** The journals of changes of this class; none, of others. */
  static idsOf(changes: Changes | HeldChanges | undefined): readonly string[] {
    return changes !== undefined && #ids in changes ? changes.#ids : [];
  }

  async revert(paths?: readonly string[]): Promise<Reverted> {
    const absolute = absoluteIn(this.#cwd, paths);
    return this.#ids.length === 0 ? NOTHING_REVERTED : revertById(this.#ids, absolute);
  }
}

/**
 * Takes back what commands with these journals have changed, the oldest first.
 *
 * @throws {Error} The user has no directory with journals; or a journal is gone or can't be read.
 */
export function revertById(
  ids: readonly string[],
  paths: readonly string[] | undefined,
): Promise<Reverted> {
  const directory = undoDirectory();
  if (directory === undefined) throw new Error('the user has no home directory with changes');
  return revertJournals(directory, ids, paths);
}

/** @throws {InputError} They are no array of paths. */
export function absoluteIn(
  cwd: string,
  paths: readonly string[] | undefined,
): readonly string[] | undefined {
  if (paths === undefined || paths === null) return undefined;
  const wrong: unknown = Array.isArray(paths) ? paths.find(isNoPath) : paths;
  if (!Array.isArray(paths) || paths.some(isNoPath)) {
    throw new InputError(`paths: expected an array of paths, got ${showValue(wrong)}`);
  }
  return paths.map((path) => resolve(cwd, path));
}

function isNoPath(path: unknown): boolean {
  return typeof path !== 'string' || path === '' || path.includes('\0');
}
