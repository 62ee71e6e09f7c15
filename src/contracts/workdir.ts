import { type Stats, stat } from 'node:fs';
import { resolve } from 'node:path';
import { LaunchError } from '../engine/launch-error.js';
import { expandHome } from '../support/directories/home.js';
import { InputError, showValue } from '../support/errors.js';
import { firstBytes } from '../support/text.js';
import { ToolError } from './errors.js';

/**
 * Resolves a working directory. Symlinks are not resolved, so that `pwd` shows the path as the caller wrote
 * it.
 *
 * @param cwd Absolute, relative to `base`, or beginning with `~/`. Default: `base`.
 * @param base Absolute.
 * @param home The directory that `~` stands for; undefined: there is none.
 * @throws {InputError} The text cannot be a path, or begins with `~`, and there is no home directory.
 */
export function resolveWorkingDirectory(
  cwd: string | undefined,
  base: string,
  home: string | undefined,
): string {
  const path = cwd === undefined ? base : resolve(base, expandHome('cwd', cwd, home));
  if (path.includes('\0')) {
    throw new InputError(`cwd: expected a path without NUL, got ${showValue(cwd ?? base)}`);
  }
  return path;
}

/**
 * Checks before a launch that a path is a directory.
 *
 * @throws {ToolError} The path does not exist, is no directory, or cannot be examined.
 */
export async function checkWorkingDirectory(path: string): Promise<void> {
  const fault = await faultOf(path);
  if (fault !== undefined) throw new ToolError('directory', fault);
}

/** Returns what is wrong with a directory; undefined: nothing that can be seen. */
async function faultOf(path: string): Promise<string | undefined> {
  const found = await inspect(path);
  if (found instanceof Error) return explain(path, found);
  return found.isDirectory() ? undefined : `Working directory is not a directory: ${shown(path)}`;
}

/**
 * Explains a launch that failed at its directory. Nearly every launch finds its directory, and a check before
 * it would cost more than the rest of its preparation.
 *
 * @returns An error about the directory; or the given error, if it is about something else.
 */
export async function explainLaunch(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof LaunchError) || error.step !== 'directory') return error;
  // The directory may exist and be closed to this user, or exist again.
  const message = (await faultOf(path)) ?? explain(path, error);
  return new ToolError('directory', message, { cause: error });
}

// The callback form, since fs.promises.stat takes three times as long: more than the rest of a call's
// preparation.
function inspect(path: string): Promise<Stats | NodeJS.ErrnoException> {
  return new Promise((settle) => {
    stat(path, (error, stats) => settle(error ?? stats));
  });
}

/** The message of all contracts about a directory that does not exist. */
export function directoryMissing(which: string): string {
  return `Working directory does not exist: ${which}`;
}

/** The longest path that is shown whole, in bytes: a model may have sent any text. */
const SHOWN_BYTES = 4096;

function shown(path: string): string {
  const start = firstBytes(path, SHOWN_BYTES);
  return start === path ? path : `${firstBytes(path, 80)}…`;
}

function explain(path: string, error: Pick<NodeJS.ErrnoException, 'code' | 'message'>): string {
  // ENOTDIR: a part of the path is a file, so the directory does not exist.
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    return directoryMissing(shown(path));
  }
  return `Working directory cannot be used: ${shown(path)} (${error.code ?? error.message})`;
}
