import { InputError, showValue } from './input-error.js';

/** @throws {InputError} It is not a finite number of `min` or more. */
export function atLeast(name: string, min: number, value: number): number {
  if (Number.isFinite(value) && value >= min) return value;
  throw new InputError(`${name}: expected a number from ${min}, got ${showValue(value)}`);
}

/** @throws {InputError} It is not a whole number of `min` or more. */
export function wholeFrom(name: string, min: number, value: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new InputError(`${name}: expected a whole number from ${min}, got ${showValue(value)}`);
}
