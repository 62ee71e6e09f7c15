import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { hasCode } from '../errors.js';
import { inDirectory, makeDirectories } from './host-files.js';

/**
 * Makes the directory for all that is the user's in the system's temporary one, unless it is there.
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

/** The same at once, for what a command waits for. */
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
 * That directory, if it is there.
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

/** What TMPDIR names is not made: it is a mistake, or lies where nothing should be left. */
function homeless(path: string, error: unknown): unknown {
  if (!hasCode(error, 'ENOENT')) return error;
  return new Error(`${dirname(path)}: no such directory (TMPDIR)`, { cause: error });
}

export function userDirectory(): string {
  // TMPDIR may be relative, and the path is for others, who are elsewhere.
  return resolve(tmpdir(), `forkline-${process.getuid?.() ?? userInfo().username}`);
}

/**
 * Makes a directory that only its owner can look into, unless it is there.
 *
 * @throws It is there and is somebody else's, open to others, or no directory. In a temporary
 *   directory that all users share, anybody may have made it.
 */
export async function makePrivate(path: string): Promise<void> {
  await makeDirectories(path, 0o700).catch((error: unknown) => {
    // What is there instead is told below.
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  await checkPrivate(path);
}

/** @throws It is somebody else's, open to others, or no directory of its own: a link is none. */
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
