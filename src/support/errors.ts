import { types } from 'node:util';
import { firstBytes } from './text.js';

/**
 * An error for wrong input of the caller; nothing was started.
 *
 * The message is one line that names the field, what is allowed and what was given, such as
 * `timeout: expected a number, got "5"`.
 */
export class InputError extends Error {
  static {
    brand(InputError, 'InputError');
  }
  override readonly name = 'InputError';
}

/** A class of errors. */
type ErrorClass = abstract new (...given: never) => Error;

/**
 * Has `instanceof` recognize the errors of a class from another copy of this package as well, such as one
 * in a bundle beside an installed one. Subclasses are recognized as usual.
 *
 * @param name Of the class, which is the same in each copy.
 */
export function brand(type: ErrorClass, name: string): void {
  const mark = Symbol.for(`forkline.${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      const isMarked = typeof value === 'object' && value !== null && mark in value;
      return this === type ? isMarked : Function.prototype[Symbol.hasInstance].call(this, value);
    },
  });
}

const SHOWN_BYTES = 80;

/** Formats a value for an error message: as JSON if possible, on one line, not too long. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  const text = toJson(value);
  const shown = firstBytes(text, SHOWN_BYTES);
  return shown === text ? text : `${shown}…`;
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cycles or bigints inside: the message must not fail because of the value it reports.
    return `an ${typeof value}`;
  }
}

/** Returns whether a value is an Error, of this realm or of another, such as `vm`'s. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

/** Returns a thrown value as an Error. JavaScript can throw any value. */
export function errorOf(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(textOf(thrown));
}

/**
 * Returns a promise that is rejected with an error whose stack names the code that awaits it. An error
 * made in a callback would name none of the caller's code.
 *
 * @param make Called once the awaiting code is known, if a promise was resolved with this one at once.
 */
export async function failing(make: () => unknown): Promise<never> {
  await undefined;
  await undefined;
  throw make();
}

/** Returns whether it is the system's error of this name, such as `ENOENT`. */
export function hasCode(thrown: unknown, code: string): boolean {
  return isError(thrown) && 'code' in thrown && thrown.code === code;
}

/** Returns an error's message. JavaScript can throw any value. */
export function messageOf(thrown: unknown): string {
  return textOf(isError(thrown) ? thrown.message : thrown);
}

/** Returns an error's name and message. JavaScript can throw any value. */
export function describeThrown(thrown: unknown): string {
  return textOf(thrown);
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    // An object without a prototype, or with a toString() that throws: the report must not fail.
    return `an ${typeof value}`;
  }
}

/**
 * Calls a function of the caller's. If it throws, or returns a promise that is rejected, `failed` is
 * called: an unhandled rejection would end the host.
 *
 * @param failed Must not throw.
 * @returns A promise that settles when the returned promise has; undefined when no promise of any kind
 * was returned.
 */
export function callOut(
  call: () => unknown,
  failed: (error: unknown) => void,
): Promise<void> | undefined {
  try {
    const returned = call();
    return isObject(returned) ? Promise.resolve(returned).then(() => {}, failed) : undefined;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/** Handles the rejection of a promise that a caller's function returned where a value was expected. */
export function disregard(returned: unknown): void {
  if (isObject(returned)) Promise.resolve(returned).catch(() => {});
}

/** An object with a `then` may be a promise; `Promise.resolve()` finds out. */
function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
