import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { InputError, showValue } from '../errors.js';

/**
 * Returns the user's home directory: the variable HOME, or the entry in the list of users. Undefined: there is
 * neither, as in a container that runs as any number; Node throws then.
 */
export function homeDirectory(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** Returns the name of this process's user, or the number of one without a name, for whom Node throws. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}

/**
 * Expands `~` and `~/…`; a path such as `~user` stays as it is.
 *
 * @param name The option or field of the path, for the message.
 * @param home The directory that `~` stands for; undefined: there is none.
 * @throws {InputError} The path begins with `~`, and there is no home directory.
 */
export function expandHome(name: string, path: string, home: string | undefined): string {
  if (path !== '~' && !path.startsWith('~/')) return path;
  if (home !== undefined) return join(home, path.slice(1));
  throw new InputError(
    `${name}: expected a path without "~", since ${withoutHome()}, got ${showValue(path)}`,
  );
}

/** Resolves a path that may begin with `~`; undefined: it does, and there is no home directory. */
export function resolveFromHome(base: string, path: string): string | undefined {
  const home = homeDirectory();
  const isBelow = path === '~' || path.startsWith('~/');
  return isBelow && home === undefined ? undefined : resolve(base, expandHome('path', path, home));
}

/** Says that there is no home directory, for a message. */
export function withoutHome(): string {
  return `user ${userName()} has no home directory (HOME is not set, or no absolute path)`;
}
