import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError, showValue } from './errors.js';

/**
 * An option's path, made absolute.
 *
 * @param path A URL of the scheme `file:` too.
 * @throws {InputError} It is relative to the host's own directory, and that was removed; or the URL
 *   names no file of this machine.
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

/** Whether it is a URL, of whatever make. A string never is: it may be a path that looks so. */
export function isUrl(value: unknown): value is URL {
  return typeof value === 'object' && value !== null && 'href' in value && 'protocol' in value;
}

function pathOfUrl(name: string, url: URL): string {
  let path: string | undefined;
  try {
    // Without a slash at its end, as with any other path.
    path = resolve(fileURLToPath(url.href));
  } catch {
    // Another scheme, another machine, or a slash that is encoded.
  }
  if (path !== undefined && !path.includes('\0')) return path;
  throw new InputError(`${name}: expected a path or a file: URL, got ${showValue(url)}`);
}

/** The host's own directory of now; undefined: it was removed. */
export function hostDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
