import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../errors.js';
import { type HeldDirectory, holdDirectory } from './held-directory.js';
import { findReachable, targetOf } from './reachable.js';

/** A directory in which the host works. */
export interface HostDirectory {
  /** Whether commands in a sandbox can write there. */
  readonly isReachable: boolean;
  /** Returns the path for system calls on one of its entries; `.` is the directory itself. */
  at(name: string): string;
  /** Returns the status of an entry. Where commands can write, a link is not followed; elsewhere it is. */
  look(name: string): Promise<Stats>;
  /**
   * Opens one of its files.
   *
   * @param flags As of open(2).
   * @throws Where commands can write: the entry is a link, or no regular file. The system's error
   * otherwise.
   */
  open(name: string, flags: number, mode?: number): Promise<FileHandle>;
}

/**
 * Works in a directory of the user's. Where commands in a sandbox could have made a part of its path, no
 * link is followed, and the directory is held, so that replacing a part of the path changes nothing.
 *
 * @param directory Absolute, and normal.
 * @throws {Error} A command has put a link on the way; or the system's error.
 */
export async function inDirectory<T>(
  directory: string,
  use: (place: HostDirectory) => Promise<T>,
): Promise<T> {
  const found = await findReachable(directory);
  if (found === undefined) return use(trusted(directory));
  const { base, names } = found;
  const expected = join(await realpath(base), ...names);
  const held = await holdDirectory(expected, 'descriptor').catch(async (error: unknown) => {
    throw (await linkError(base, names)) ?? error;
  });
  try {
    const real = await realpath(held.at('.'));
    if (real === expected) return await use(reachable(held, directory));
    const got = `expected a directory, got one that leads to '${real}': '${directory}'`;
    throw (await linkError(base, names)) ?? new Error(got);
  } finally {
    await held.close();
  }
}

/**
 * Opens a file of the user's, as {@link inDirectory} does. A path that names a device, or a descriptor of
 * the host's, is opened as it is.
 *
 * @param path Absolute, and normal.
 * @throws As {@link HostDirectory.open} and {@link inDirectory}.
 */
export function openHostFile(path: string, flags: number, mode?: number): Promise<FileHandle> {
  if (namesOwnDescriptor(path)) return open(path, flags, mode);
  return inDirectory(dirname(path), (place) => place.open(basename(path), flags, mode));
}

/**
 * Removes a file of the user's, if it exists.
 *
 * @throws As {@link inDirectory}.
 */
export async function removeHostFile(path: string): Promise<void> {
  try {
    await inDirectory(dirname(path), ({ at }) => rm(at(basename(path)), { force: true }));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/**
 * Makes a directory and the directories above it, unless they exist.
 *
 * @throws {Error} A directory's place is taken by something else; or as {@link inDirectory}.
 */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  try {
    await makeOne(path, mode);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
    await makeDirectories(dirname(path), mode);
    await makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): Promise<void> {
  const name = basename(path);
  return inDirectory(dirname(path), async ({ at, look }) => {
    try {
      await mkdir(at(name), mode);
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || !(await look(name)).isDirectory()) throw error;
    }
  });
}

/**
 * Returns whether a path is the kernel's name for something that the host has open: commands can't make
 * such entries.
 */
export function namesOwnDescriptor(path: string): boolean {
  if (path.startsWith('/proc/')) return true;
  return path.startsWith('/dev/') && !path.startsWith('/dev/shm/');
}

function trusted(directory: string): HostDirectory {
  const at = (name: string): string => join(directory, name);
  return {
    isReachable: false,
    at,
    look: (name) => stat(at(name)),
    open: (name, flags, mode) => open(at(name), flags, mode),
  };
}

function reachable(held: HeldDirectory, directory: string): HostDirectory {
  return {
    isReachable: true,
    at: (name) => held.at(name),
    look: (name) => lstat(held.at(name)),
    async open(name, flags, mode) {
      const strict = flags | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await open(held.at(name), strict, mode).catch(async (error: unknown) => {
        const target = hasCode(error, 'ELOOP') ? await targetOf(held.at(name)) : undefined;
        throw target === undefined ? error : linkIn(join(directory, name), target);
      });
      if ((await file.stat()).isFile()) return file;
      await file.close();
      throw new Error(`expected a file, got none: '${join(directory, name)}'`);
    },
  };
}

/** Describes the first link on the path below a directory. */
async function linkError(base: string, names: readonly string[]): Promise<Error | undefined> {
  let path = base;
  for (const name of names) {
    path = join(path, name);
    const target = await targetOf(path);
    if (target !== undefined) return linkIn(path, target);
  }
  return undefined;
}

function linkIn(path: string, target: string): Error {
  const message = `expected a file, got a link: '${path}' -> '${target}'`;
  return Object.assign(new Error(message), { code: 'ELOOP' });
}
