import { mkdir, readlink } from 'node:fs/promises';
import {
  type HeldDirectory,
  type Hold,
  holdDirectory,
} from '../../../support/directories/held-directory.js';
import { hasCode } from '../../../support/errors.js';
import { PathError } from './path-error.js';

/** The directory in which all file operations stay. */
export interface Root {
  /** The absolute path, without symlinks. */
  readonly directory: string;
  /** Other paths of the same directory: its names before its symlinks were resolved. */
  readonly aliases: readonly string[];
  readonly hold: Hold;
}

/**
 * An entry of a held directory; it may not exist yet. It is no symlink, unless that was asked for.
 */
export interface HeldPlace {
  /**
   * The path for system calls. Open it with `O_NOFOLLOW`: another process may put a symlink there
   * meanwhile.
   */
  readonly at: string;
  readonly parent: HeldDirectory;
  /** The entry's name; `.` for the root itself, and for a path that ends in `..`. */
  readonly name: string;
}

/** Options for following a path. */
export interface Way {
  /** Whether a symlink at the end is not followed. Default: it is followed. */
  readonly keepLink?: boolean;
  /** Whether missing directories on the way are made. Default: they are an error. */
  readonly makeParents?: boolean;
}

/** The number of symlinks that are followed: as many as the kernel does. */
const MOST_LINKS = 40;

/**
 * Follows a path, one directory after the other. Each is held and none is a symlink: those are read and
 * followed as well, so that no path leads out of the root, whatever other processes change meanwhile.
 *
 * @throws {PathError} The path leads outside.
 * @throws The system's errors.
 */
export async function reach<T>(
  root: Root,
  path: string,
  way: Way,
  use: (place: HeldPlace) => Promise<T>,
): Promise<T> {
  const names = namesWithin(root, path, path);
  const held = [await holdDirectory(root.directory, root.hold)];
  try {
    return await use(await goAlong(root, path, names, way, held));
  } finally {
    await Promise.all(held.map((directory) => directory.close()));
  }
}

async function goAlong(
  root: Root,
  path: string,
  names: string[],
  way: Way,
  held: HeldDirectory[],
): Promise<HeldPlace> {
  const here = (): HeldDirectory => held[held.length - 1] as HeldDirectory;
  const backTo = async (depth: number): Promise<void> => {
    for (const directory of held.splice(depth)) await directory.close();
  };
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const isLast = names.length === 0;
    if (name === '..') {
      if (held.length === 1) throw outside(root, path);
      await backTo(held.length - 1);
      continue;
    }
    const next = isLast ? undefined : await enter(here(), name, root.hold, way);
    if (next !== undefined) {
      held.push(next);
      continue;
    }
    const target = isLast && way.keepLink ? undefined : await targetOf(here().at(name));
    if (target === undefined) return { at: here().at(name), parent: here(), name };
    links += 1;
    if (links > MOST_LINKS) throw new PathError('failed', path, 'too many symlinks');
    names.unshift(...namesWithin(root, target, path));
    if (target.startsWith('/')) await backTo(1);
  }
  return { at: here().at('.'), parent: here(), name: '.' };
}

/** Opens a directory on the way; `undefined`: it is a symlink. */
async function enter(
  parent: HeldDirectory,
  name: string,
  hold: Hold,
  way: Way,
): Promise<HeldDirectory | undefined> {
  const at = parent.at(name);
  try {
    return await holdDirectory(at, hold);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && way.makeParents) {
      await mkdir(at).catch((failed: unknown) => {
        // Another process has made it meanwhile.
        if (!hasCode(failed, 'EEXIST')) throw failed;
      });
      return enter(parent, name, hold, {});
    }
    if (hasCode(error, 'ENOTDIR') || hasCode(error, 'ELOOP')) {
      if ((await targetOf(at)) !== undefined) return undefined;
    }
    throw error;
  }
}

/** Returns the target of a symlink; `undefined`: there is no symlink. */
async function targetOf(at: string): Promise<string | undefined> {
  try {
    return await readlink(at);
  } catch (error) {
    if (hasCode(error, 'EINVAL') || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Returns the names of a path from the root on; of a relative path, from its start. */
function namesWithin(root: Root, path: string, given: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (!path.startsWith('/')) return names;
  for (const alias of [root.directory, ...root.aliases]) {
    const own = alias.split('/').filter((name) => name !== '');
    if (own.every((name, index) => names[index] === name)) return names.slice(own.length);
  }
  throw outside(root, given);
}

function outside(root: Root, path: string): PathError {
  return new PathError('outside', path, `it leads out of the root, ${root.directory}`);
}
