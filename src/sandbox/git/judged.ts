import { accessSync, constants, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { statePath } from '../../support/directories/state-directory.js';
import { isAmong } from '../paths.js';

/**
 * Makes the entries of a plan by which changes of git's settings are judged: the directory of those that are held
 * back, and the program that reads them. None where either cannot be had: then these settings are read-only.
 *
 * @param writable Real paths where commands write; a program there is not trusted.
 */
export function judgedSettings(writable: readonly string[]): string {
  const program = gitProgram(writable);
  const held = program === undefined ? undefined : heldDirectory();
  return held === undefined ? '' : `held\0${held}\0git-program\0${program}\0`;
}

/** Returns the first git in this process's PATH that commands cannot replace, by its real path. */
export function gitProgram(writable: readonly string[]): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return directories
    .map((directory) => programAt(join(directory, 'git')))
    .find((path) => {
      return path !== undefined && !isAmong(path, writable);
    });
}

function programAt(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    accessSync(real, constants.X_OK);
    return real;
  } catch {
    return undefined;
  }
}

/** Makes the directory of changes that are held back, which commands in a sandbox do not see. */
function heldDirectory(): string | undefined {
  const state = statePath();
  if (state === undefined) return undefined;
  const path = join(state, 'held');
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = lstatSync(path);
    const isPrivate = found.isDirectory() && (found.mode & 0o077) === 0;
    return isPrivate && found.uid === process.getuid?.() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
