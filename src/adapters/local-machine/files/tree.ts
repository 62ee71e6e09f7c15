import type { Dirent } from 'node:fs';
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import {
  type HeldDirectory,
  type Hold,
  holdDirectory,
} from '../../../support/directories/held-directory.js';
import { hasCode } from '../../../support/errors.js';

/** The type of an entry. `other`: a device, a named pipe, a socket. */
export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

/** An entry of a directory. */
export interface DirectoryEntry {
  /**
   * The name. One that is not UTF-8 has U+FFFD in place of invalid bytes, and can't be opened by it.
   */
  readonly name: string;
  readonly type: EntryType;
}

/** Returns the type that the system tells. */
export function typeOf(
  status: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): EntryType {
  if (status.isFile()) return 'file';
  if (status.isDirectory()) return 'directory';
  return status.isSymbolicLink() ? 'symlink' : 'other';
}

/** Returns the entries of a held directory, by name. */
export async function entriesOf(directory: HeldDirectory): Promise<DirectoryEntry[]> {
  const entries = await readdir(directory.at('.'), { withFileTypes: true });
  return entries
    .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** An entry somewhere below a directory. */
export interface FoundEntry extends DirectoryEntry {
  /** The path from the directory that was walked: `src/index.ts`. */
  readonly path: string;
  /** The path for system calls, valid until the next entry is asked for. */
  readonly at: string;
}

/**
 * Walks everything below a held directory, each directory before its content. Symlinks are yielded and
 * not followed; entries that can't be read, or go away meanwhile, are left out.
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
 * Removes an entry of a held directory, and everything below it. A symlink is removed, and its target
 * stays. Node's `rm` uses paths, a part of which can be replaced by a symlink meanwhile.
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
