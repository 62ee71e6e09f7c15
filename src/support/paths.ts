import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError, showValue } from './errors.js';

/**
 * Makes an option's path absolute.
 *
 * @param path May be a URL of the scheme `file:`.
 * @throws {InputError} The path is relative to the host's working directory, and that was removed; or the
 * URL names no file of this machine.
 */
export function absolutePath(name: string, path: string | URL): string {
  if (typeof path !== 'string') return pathOfUrl(name, path);
  try {
    return resolve(path);
  } catch {
    const got = showValue(path);
    throw new InputError(
      `${name}: expected an absolute path, since the host's own directory was removed, got ${got}`,
    );
  }
}

/**
 * Returns whether it is a URL, of any implementation. A string never is: it may be a path that looks like
 * one.
 */
export function isUrl(value: unknown): value is URL {
  return typeof value === 'object' && value !== null && 'href' in value && 'protocol' in value;
}

function pathOfUrl(name: string, url: URL): string {
  let path: string | undefined;
  try {
    // Removes a slash at the end, as with any other path.
    path = resolve(fileURLToPath(url.href));
  } catch {
    // Another scheme, another machine, or an encoded slash.
  }
  if (path !== undefined && !path.includes('\0')) return path;
  throw new InputError(`${name}: expected a path or a file: URL, got ${showValue(url)}`);
}

/** Returns the host's current working directory; undefined when it was removed. */
export function hostDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
