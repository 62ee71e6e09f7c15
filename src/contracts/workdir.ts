import { type Stats, stat } from 'node:fs';
import { join, resolve } from 'node:path';
import { LaunchError } from '../engine/launch-error.js';
import { InputError, showValue } from '../support/errors.js';

/**
 * Resolves a working directory. The path stays as it was given: symlinks in it are not resolved, so
 * that `pwd` shows what the caller wrote.
 *
 * @param cwd Absolute, relative to `base`, or beginning with `~/`. Default: `base`.
 * @param base Absolute.
 * @param home What `~` stands for.
 * @throws {InputError} It cannot be a path.
 */
export function resolveWorkingDirectory(
  cwd: string | undefined,
  base: string,
  home: string,
): string {
  const path = cwd === undefined ? base : resolve(base, expandHome(cwd, home));
  if (path.includes('\0')) {
    throw new InputError(`cwd: expected a path without NUL, got ${showValue(cwd ?? base)}`);
  }
  return path;
}

/**
 * Makes sure that a path is a directory, for whoever must know it before the launch.
 *
 * @throws {InputError} It does not exist, is no directory, or cannot be looked at.
 */
export async function checkWorkingDirectory(path: string): Promise<void> {
  const found = await inspect(path);
  if (found instanceof Error) throw new InputError(explain(path, found));
  if (!found.isDirectory()) {
    throw new InputError(`Working directory is not a directory: ${path}`);
  }
}

/**
 * What was wrong with the directory of a launch that failed there. Nearly every launch finds its
 * directory, so to look first would cost all of them more than all the rest of their preparation.
 *
 * @returns The error of the check; what was given when that is about something else.
 */
export async function explainLaunch(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof LaunchError) || error.step !== 'directory') return error;
  try {
    await checkWorkingDirectory(path);
  } catch (found) {
    return found;
  }
  // It is there, and may not be entered; or it is there again.
  return new InputError(explain(path, error));
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

function explain(path: string, error: Pick<NodeJS.ErrnoException, 'code' | 'message'>): string {
  // ENOTDIR: something on the way to it is a file, so the directory itself is not there.
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    return `Working directory does not exist: ${path}`;
  }
  return `Working directory cannot be used: ${path} (${error.code ?? error.message})`;
}
