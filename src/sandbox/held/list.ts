import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Held } from '../../engine/sandbox-report.js';
import { type OptionNames, readOptions } from '../../support/checks.js';
import { messageOf } from '../../support/errors.js';
import { warnHost } from '../../support/logger.js';
import { absolutePath } from '../../support/paths.js';
import { gitDirectories } from '../git/places.js';
import { isAmong } from '../paths.js';
import { HeldBack } from './held-back.js';
import { heldDirectory, idsIn, listRecords, removeRecord } from './store.js';

/** Which held changes are listed. */
export interface HeldBackOptions {
  /** A directory: only changes in it, by its real path, and in git's directory for it. Default: all of the user. */
  readonly workspace?: string | URL | undefined;
  /**
   * Only changes of this file. `.git/config` is also that of the repository of a linked worktree or a submodule, or
   * of a directory above. Default: all files.
   */
  readonly file?: string | URL | undefined;
}

const NAMES: OptionNames<HeldBackOptions> = { workspace: true, file: true };

/**
 * Lists the changes that sandboxes of this user have held back, the oldest first, also those of hosts that have
 * ended. A change that can't be read, as one of a later version, is a warning of the process, and can be dropped by
 * {@link dropHeld}.
 *
 * ```ts
 * for (const held of await heldBack({ workspace: '/work/project' })) {
 *   console.log(held.path, held.keys, held.diff);
 *   if (await userAllows(held)) await held.accept();
 * }
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {Error} The directory of the changes belongs to another user, or is open to others; or the system's
 * error.
 */
export async function heldBack(options: HeldBackOptions = {}): Promise<readonly Held[]> {
  const { workspace, file } = readOptions('options', options, NAMES);
  const within = workspace === undefined ? undefined : absolutePath('workspace', workspace);
  const named = file === undefined ? undefined : absolutePath('file', file);
  const directory = heldDirectory();
  if (directory === undefined) return [];
  const { records, unreadable } = await listRecords(directory);
  // Whether it is of this file is not known.
  for (const { id, reason } of named === undefined ? unreadable : []) {
    warnHost(
      `The change that is held back as ${id} can't be read (forkline held drop ${id} removes it): ${reason}`,
    );
  }
  const places = within === undefined ? undefined : placesOf(within);
  const paths = named === undefined ? undefined : pathsOf(named);
  const wanted = records.filter(
    ({ path }) => (!places || isAmong(path, places)) && (!paths || paths.includes(path)),
  );
  const all: Held[] = [];
  for (const record of wanted) {
    // It may have been dropped meanwhile, or its files can't be read.
    const held = await HeldBack.of(directory, record).catch((error: unknown) =>
      warnHost(`The change of ${record.path} that is held back can't be read: ${messageOf(error)}`),
    );
    if (held) all.push(held);
  }
  return all;
}

/**
 * Removes the change of this user that is held by this id, also one that can't be read.
 *
 * @returns Whether there was one.
 * @throws {Error} The directory of the changes belongs to another user, or is open to others; or the system's
 * error.
 */
export async function dropHeld(id: string): Promise<boolean> {
  const directory = heldDirectory();
  if (directory === undefined || !(await idsIn(directory)).includes(id)) return false;
  await removeRecord(directory, id);
  return true;
}

/** Returns the real paths of a workspace: its own, and those of git's directories for it. */
function placesOf(workspace: string): readonly string[] {
  const real = realOf(workspace);
  return [real, ...gitDirectories(real)];
}

/** Returns the paths that a file's name may stand for. */
function pathsOf(path: string): readonly string[] {
  const [tree = '', ...below] = path.split('/.git/');
  const places = below.length === 0 ? [] : gitDirectories(realOf(tree || '/'));
  return [path, realPlaceOf(path), ...places.map((place) => join(place, below.join('/.git/')))];
}

/** Returns the path of a file by the real path of its directory. */
function realPlaceOf(path: string): string {
  return join(realOf(dirname(path)), basename(path));
}

/** Returns the real path, or that of the nearest directory above that exists with the rest. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : realPlaceOf(path);
  }
}
