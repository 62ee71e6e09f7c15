import { realpathSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.js';

/**
 * Directories that commands in sandboxes of this process can write to, by the given path and by the real
 * path.
 */
const directories = new Set<string>();
/** The limit for a host that works in one temporary directory after another: the oldest are dropped. */
const MOST_DIRECTORIES = 16_384;

/**
 * Notes where commands in a sandbox can write from now on, since links that they make there may lead
 * anywhere. The engine notes the same for the files that it opens.
 *
 * @param paths Absolute.
 */
export function noteReachable(paths: readonly string[]): void {
  for (const path of paths) {
    if (directories.has(path)) continue;
    directories.add(path);
    try {
      directories.add(realpathSync(path));
    } catch {
      // The directory does not exist yet, so it has no other name.
    }
  }
  for (const oldest of directories) {
    if (directories.size <= MOST_DIRECTORIES) return;
    directories.delete(oldest);
  }
}

/** Returns all noted directories. */
export function reachableDirectories(): Iterable<string> {
  return directories;
}

/** A path, split where commands can begin to write. */
interface ReachablePlace {
  /** The first directory on the path that commands can write to. */
  readonly base: string;
  /** The names below `base`, all of which may have been made by a command. */
  readonly names: readonly string[];
}

/** The kernel's own limit of links in a path. */
const MOST_LINKS = 40;

/**
 * Follows a path, links of the user's included, to the first directory in which commands in a sandbox
 * could have made the next part. Returns undefined when there is none, or the directory does not exist.
 *
 * @param directory Absolute, and normal.
 */
export async function findReachable(directory: string): Promise<ReachablePlace | undefined> {
  if (directories.size === 0) return undefined;
  const names = namesOf(directory);
  let base = '/';
  for (let links = 0; ; ) {
    if (directories.has(base)) return { base, names };
    const name = names.shift();
    if (name === undefined) return undefined;
    const next = join(base, name);
    const target = directories.has(next) ? undefined : await targetOf(next);
    if (target === undefined) {
      base = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) return undefined;
    if (target.startsWith('/')) base = '/';
    names.unshift(...namesOf(target));
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** Returns the target of a link; undefined when `path` is no link. */
export async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, 'EINVAL') || hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) {
      return undefined;
    }
    throw error;
  }
}
