import { type Stats, stat } from 'node:fs';
import { join, resolve } from 'node:path';
import { InputError, showValue } from './input-error.js';

/**
 * Resolves a working directory and makes sure that it is one. The path stays as it was given:
 * symlinks in it are not resolved, so that `pwd` shows what the caller wrote.
 *
 * @param cwd Absolute, relative to `base`, or beginning with `~/`. Default: `base`.
 * @param base Absolute.
 * @param home What `~` stands for.
 * @throws {InputError} It does not exist, is no directory, or cannot be looked at.
 */
export async function resolveWorkingDirectory(
  cwd: string | undefined,
  base: string,
  home: string,
): Promise<string> {
  const path = cwd === undefined ? base : resolve(base, expandHome(cwd, home));
  if (path.includes('\0')) {
    throw new InputError(`cwd: expected a path without NUL, got ${showValue(cwd)}`);
  }
  const found = await inspect(path);
  if (found instanceof Error) throw new InputError(explain(path, found));
  if (!found.isDirectory()) {
    throw new InputError(`Working directory is not a directory: ${path}`);
  }
  return path;
}

/** `~` and `~/…`; a path such as `~user` is left as it is. */
function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
}

// The callback form: fs.promises.stat takes three times as long, which is more than all the rest
// of a call's preparation.
function inspect(path: string): Promise<Stats | NodeJS.ErrnoException> {
  return new Promise((settle) => {
    stat(path, (error, stats) => settle(error ?? stats));
  });
}

function explain(path: string, error: NodeJS.ErrnoException): string {
  // ENOTDIR: something on the way to it is a file, so the directory itself is not there.
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    return `Working directory does not exist: ${path}`;
  }
  return `Working directory cannot be used: ${path} (${error.code ?? error.message})`;
}
