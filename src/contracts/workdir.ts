import { type Stats, stat } from 'node:fs';
import { join, resolve } from 'node:path';
import { LaunchError } from '../engine/launch-error.js';
import { InputError, showValue } from '../support/errors.js';
import { firstBytes } from '../support/text.js';
import { ToolError } from './errors.js';

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
 * @throws {ToolError} It does not exist, is no directory, or cannot be looked at.
 */
export async function checkWorkingDirectory(path: string): Promise<void> {
  const fault = await faultOf(path);
  if (fault !== undefined) throw new ToolError('directory', fault);
}

/** What is wrong with it; undefined: nothing that can be seen. */
async function faultOf(path: string): Promise<string | undefined> {
  const found = await inspect(path);
  if (found instanceof Error) return explain(path, found);
  return found.isDirectory() ? undefined : `Working directory is not a directory: ${shown(path)}`;
}

/**
 * What was wrong with the directory of a launch that failed there. Nearly every launch finds its
 * directory, so to look first would cost all of them more than all the rest of their preparation.
 *
 * @returns The error of the check; what was given when that is about something else.
 */
export async function explainLaunch(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof LaunchError) || error.step !== 'directory') return error;
  // It may be there, and not to be entered; or there again.
  const message = (await faultOf(path)) ?? explain(path, error);
  return new ToolError('directory', message, { cause: error });
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

/** What all contracts say of a directory that is not there. */
export function directoryMissing(which: string): string {
  return `Working directory does not exist: ${which}`;
}

/** As long as a path may be; a model may have given anything, and what it gave comes back to it. */
const SHOWN_BYTES = 4096;

function shown(path: string): string {
  const start = firstBytes(path, SHOWN_BYTES);
  return start === path ? path : `${firstBytes(path, 80)}…`;
}

function explain(path: string, error: Pick<NodeJS.ErrnoException, 'code' | 'message'>): string {
  // ENOTDIR: something on the way to it is a file, so the directory itself is not there.
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    return directoryMissing(shown(path));
  }
  return `Working directory cannot be used: ${shown(path)} (${error.code ?? error.message})`;
}
