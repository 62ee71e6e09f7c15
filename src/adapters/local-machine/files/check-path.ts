import { InputError, showValue } from '../../../support/errors.js';

/**
 * Checks a path.
 *
 * @throws {InputError} The value is no path: no text, empty, or with a NUL or half of a character in
 *   it.
 */
export function checkPath(path: unknown): asserts path is string {
  if (typeof path === 'string' && path !== '' && !path.includes('\0') && path.isWellFormed())
    return;
  throw new InputError(`path: expected a path, got ${showValue(path)}`);
}
