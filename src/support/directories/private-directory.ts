import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { hasCode } from '../errors.js';
import { userName } from './home.js';
import { inDirectory, makeDirectories } from './host-files.js';

/**
 * Makes the user's directory in the system's temporary directory, unless it exists.
 *
 * @throws As {@link makePrivate}; or there is no temporary directory.
 */
export async function makeUserDirectory(): Promise<string> {
  const path = userDirectory();
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw homeless(path, error);
  }
  await checkPrivate(path);
  return path;
}

/** Makes the user's directory synchronously, for a command that waits for it. */
export function makeUserDirectorySync(): string {
  const path = userDirectory();
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw homeless(path, error);
  }
  refuseOpen(path, lstatSync(path));
  return path;
}

/**
 * Returns the user's directory, if it exists.
 *
 * @throws As {@link makePrivate}.
 */
export async function findUserDirectory(): Promise<string | undefined> {
  const path = userDirectory();
  try {
    await checkPrivate(path);
    return path;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** A missing TMPDIR is not made: the variable is wrong, or names a place where nothing should be left. */
function homeless(path: string, error: unknown): unknown {
  if (!hasCode(error, 'ENOENT')) return error;
  return new Error(`${dirname(path)}: no such directory (TMPDIR)`, { cause: error });
}

export function userDirectory(): string {
  // TMPDIR may be relative, but the path is also used by processes with another working directory.
  return resolve(tmpdir(), `forkline-${process.getuid?.() ?? userName()}`);
}

/**
 * Makes a directory that only its owner can look into, unless it exists.
 *
 * @throws The directory belongs to another user, is open to others, or is no directory. In a temporary
 * directory that all users share, any user may have made it.
 */
export async function makePrivate(path: string): Promise<void> {
  await makeDirectories(path, 0o700).catch((error: unknown) => {
    // `checkPrivate()` below reports what exists instead.
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  await checkPrivate(path);
}

/**
 * @throws The directory belongs to another user, is open to others, or is no directory (or only a link to
 * one).
 */
export async function checkPrivate(path: string): Promise<void> {
  const found = await inDirectory(dirname(path), ({ at }) => lstat(at(basename(path))));
  refuseOpen(path, found);
}

function refuseOpen(path: string, found: Stats): void {
  const uid = process.getuid?.();
  if (!found.isDirectory()) throw new Error(`${path}: expected a directory`);
  if (uid !== undefined && found.uid !== uid) {
    throw new Error(`${path}: expected a directory of user ${uid}, it is user ${found.uid}'s`);
  }
  if ((found.mode & 0o077) !== 0) {
    const mode = (found.mode & 0o777).toString(8);
    throw new Error(`${path}: expected mode 700, got ${mode}`);
  }
}
