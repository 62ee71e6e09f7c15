import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { makeStateRoom } from '../../support/directories/state-directory.js';
import { KEPT_SETTINGS } from '../defaults.js';
import { existing, isAmong } from '../paths.js';

/**
 * Makes the entries of a plan by which changes of git's settings are judged: the directory of those that are held
 * back, and the program that reads them. None where either cannot be had: then these settings are read-only.
 *
 * @param writable Real paths where commands write; a program there is not trusted.
 */
export function judgedSettings(writable: readonly string[]): string {
  const program = gitProgram(writable);
  const held = program === undefined ? undefined : makeStateRoom('held');
  return held === undefined ? '' : `held\0${held}\0git-program\0${program}\0`;
}

/**
 * Returns whether there are settings, git's among them, and all of them are among what is denied by a list of one's own,
 * which may name anything.
 */
export function areSettingsAmong(writable: readonly string[], denied: readonly string[]): boolean {
  const names = [...KEPT_SETTINGS, '.git'];
  const all = existing(writable.flatMap((root) => names.map((name) => join(root, name))));
  return all.length > 0 && all.every((path) => isAmong(path, denied));
}

/** Returns the first git in this process's PATH that commands cannot replace, by its real path. */
export function gitProgram(writable: readonly string[]): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  for (const directory of directories) {
    const path = programAt(join(directory, 'git'));
    if (path !== undefined && !isAmong(path, writable)) return path;
  }
  return undefined;
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
