import { resolve } from 'node:path';
import { InputError, showValue } from './errors.js';

/**
 * An option's path, made absolute.
 *
 * @throws {InputError} It is relative to the host's own directory, and that was removed.
 */
export function absolutePath(name: string, path: string): string {
  try {
    return resolve(path);
  } catch {
    const got = showValue(path);
    throw new InputError(
      `${name}: expected an absolute path, since the host's own directory was removed, got ${got}`,
    );
  }
}

/** The host's own directory of now; undefined: it was removed. */
export function hostDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
