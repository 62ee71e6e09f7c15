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
