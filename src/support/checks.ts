import { InputError, showValue } from './errors.js';

/** @throws {InputError} It is not a finite number of `min` or more. */
export function atLeast(name: string, min: number, value: number): number {
  if (Number.isFinite(value) && value >= min) return value;
  throw new InputError(`${name}: expected a number from ${min}, got ${showValue(value)}`);
}

/** @throws {InputError} It is not a whole number from `min` to `max`. */
export function wholeFrom(
  name: string,
  min: number,
  value: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min}` : `${min} to ${max}`;
  throw new InputError(`${name}: expected a whole number from ${range}, got ${showValue(value)}`);
}

/** Whether nothing was given: to a caller, `null` and `undefined` are one. */
export function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** @throws {InputError} It is not an object that options can be read from. */
export function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new InputError(`${name}: expected an object, got ${showValue(value)}`);
}

/** @throws {InputError} It is given, and neither true nor false. */
export function checkSwitch(name: string, value: unknown): void {
  if (isMissing(value) || typeof value === 'boolean') return;
  throw new InputError(`${name}: expected true or false, got ${showValue(value)}`);
}

/** @throws {InputError} It is given, and no function. */
export function checkFunction(name: string, value: unknown): void {
  if (isMissing(value) || typeof value === 'function') return;
  throw new InputError(`${name}: expected a function, got ${showValue(value)}`);
}

/** @throws {InputError} It is given, and no text. */
export function checkString(name: string, value: unknown): void {
  if (isMissing(value) || typeof value === 'string') return;
  throw new InputError(`${name}: expected a string, got ${showValue(value)}`);
}

/** @throws {InputError} It is given, and not an object with this method, such as a logger. */
export function checkMethod(name: string, method: string, value: unknown): void {
  if (isMissing(value)) return;
  if (typeof value === 'object' && typeof Reflect.get(value, method) === 'function') return;
  throw new InputError(`${name}: expected an object with ${method}(), got ${showValue(value)}`);
}

/**
 * Half of a surrogate pair is no character: as UTF-8 it would become another one, and what runs would
 * not be what was said.
 *
 * @throws {InputError} It has one.
 */
export function checkWellFormed(name: string, text: string): void {
  const at = /\p{Surrogate}/u.exec(text)?.index;
  if (at === undefined) return;
  throw new InputError(`${name}: expected text without lone surrogates, got one at index ${at}`);
}
