import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { readOptions } from '../support/checks.js';
import { makeDirectories } from '../support/directories/host-files.js';
import { hasCode, InputError, showValue } from '../support/errors.js';
import { absolutePath } from '../support/paths.js';
import type { UrlResolver } from './resolver.js';

/** Options of `local://` URLs. */
export interface LocalUrlOptions {
  /** The directory that `local://` stands for. Created when it is first needed. */
  readonly root: string;
}

// The kernel's own limit in Linux.
const MAX_SYMLINKS = 40;

/**
 * Creates the resolver of `local://path` and `local:/path`: files below one directory. The directories
 * that lead to a file are created, so that a command can write it.
 *
 * Percent-encoding is decoded first: `local://a%20b`. A path may not lead out of the root, by `..` or by
 * a symlink. That is checked at the time of the call; a command can change it later.
 *
 * @throws {InputError} The root is not a path.
 */
export function createLocalResolver(options: LocalUrlOptions): UrlResolver {
  const { root } = readOptions('options', options, { root: true });
  if (typeof root !== 'string' || root === '') {
    throw new InputError(`root: expected a path, got ${showValue(root)}`);
  }
  const base = absolutePath('root', root);
  return {
    async resolve(url) {
      const path = pathOf(url, base);
      await makeDirectories(base, 0o777);
      const [realBase, target] = await Promise.all([realpath(base), targetOf(path)]);
      if (!isWithin(target, realBase)) {
        throw new Error('The path leads out of local:// by a symbolic link.');
      }
      if (target !== realBase) await makeDirectories(dirname(target), 0o777);
      return { path };
    },
  };
}

/** Returns the path of a URL, by its text alone. A slash at the end stays: something may follow it. */
function pathOf(url: string, base: string): string {
  const rest = decode(url.replace(/^local:\/+/, ''));
  if (rest.includes('\0')) throw new Error('The path has a NUL character.');
  const path = join(base, rest);
  if (!isWithin(path, base)) throw new Error('The path leads out of local://.');
  return rest === '' ? join(base, sep) : path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('The percent-encoding is not valid; write % itself as %25.');
  }
}

function isWithin(path: string, base: string): boolean {
  return path === base || path.startsWith(join(base, sep));
}

/** Resolves a path with symlinks, including dangling ones. */
async function targetOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const parent = await targetOf(dirname(path), links);
  const name = join(parent, basename(path));
  const link = await readlink(name).catch(() => undefined);
  if (link === undefined) return name;
  // The system's limit does not count dangling symlinks.
  if (links >= MAX_SYMLINKS) throw new Error('The path has too many symbolic links.');
  return targetOf(resolve(parent, link), links + 1);
}
