import { realpathSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.js';

/** Those that commands in sandboxes of this process can write to, by the names that they were given and have. */
const directories = new Set<string>();
/** Of a host that works in one temporary directory after the other, the oldest go. */
const MOST_DIRECTORIES = 16_384;

/**
 * Notes where commands in a sandbox can write, from now on: what they have made there may lead
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
      // It is not there yet, so it has no other name.
    }
  }
  for (const oldest of directories) {
    if (directories.size <= MOST_DIRECTORIES) return;
    directories.delete(oldest);
  }
}

/** All of them. */
export function reachableDirectories(): Iterable<string> {
  return directories;
}

/** A path, by whom its parts can have been made. */
interface ReachablePlace {
  /** The first directory on it that commands can write to. */
  readonly base: string;
  /** What is below that, of which all may have been made by a command. */
  readonly names: readonly string[];
}

/** As many as the kernel follows. */
const MOST_LINKS = 40;

/**
 * Goes along a path to where commands in a sandbox could have made the next part of it, links of the
 * user's included; undefined: they can nowhere, or there is no such directory.
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

/** Where a link leads; undefined: there is none. */
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
