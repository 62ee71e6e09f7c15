import type { Dirent } from 'node:fs';
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import {
  type HeldDirectory,
  type Hold,
  holdDirectory,
} from '../../../support/directories/held-directory.js';
import { hasCode } from '../../../support/errors.js';

/** What stands at a path. `other`: a device, a named pipe, a socket. */
export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

/** An entry of a directory. */
export interface DirectoryEntry {
  /** A name that is not UTF-8 has U+FFFD for what is not text, and can't be opened by it. */
  readonly name: string;
  readonly type: EntryType;
}

/** What the system says it is. */
export function typeOf(
  status: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): EntryType {
  if (status.isFile()) return 'file';
  if (status.isDirectory()) return 'directory';
  return status.isSymbolicLink() ? 'symlink' : 'other';
}

/** The entries of a directory that is held, by name. */
export async function entriesOf(directory: HeldDirectory): Promise<DirectoryEntry[]> {
  const entries = await readdir(directory.at('.'), { withFileTypes: true });
  return entries
    .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Something below a directory. */
export interface FoundEntry extends DirectoryEntry {
  /** From the directory that was looked through on: `src/index.ts`. */
  readonly path: string;
  /** What to call the system with, until the next one is asked for. */
  readonly at: string;
}

/**
 * All that is below a directory that is held, each before what is in it. Symlinks are told and not
 * followed; what can't be read, or goes away meanwhile, is left out.
 */
export async function* walk(
  directory: HeldDirectory,
  hold: Hold,
  within = '',
): AsyncGenerator<FoundEntry, void> {
  for (const entry of await entriesOf(directory)) {
    const path = within + entry.name;
    yield { ...entry, path, at: directory.at(entry.name) };
    if (entry.type !== 'directory') continue;
    const below = await holdDirectory(directory.at(entry.name), hold).catch(() => undefined);
    if (below === undefined) continue;
    try {
      yield* walk(below, hold, `${path}/`);
    } catch (error) {
      if (!hasCode(error, 'EACCES')) throw error;
    } finally {
      await below.close();
    }
  }
}

/**
 * Removes an entry of a directory that is held, and what is below it. A symlink goes, what it leads
 * to stays. Node's `rm` goes by paths, of which a part can be replaced by a symlink meanwhile.
 */
export async function removeTree(parent: HeldDirectory, name: string, hold: Hold): Promise<void> {
  const at = parent.at(name);
  if (!(await lstat(at)).isDirectory()) {
    await unlink(at);
    return;
  }
  const directory = await holdDirectory(at, hold);
  try {
    for (const entry of await entriesOf(directory)) await removeTree(directory, entry.name, hold);
  } finally {
    await directory.close();
  }
  await rmdir(at);
}
