import { types } from 'node:util';
import { firstBytes } from './text.js';

/**
 * The caller's input is wrong; nothing was started.
 *
 * The message is one line that names the field, what is allowed and what was given, such as
 * `timeout: expected a number, got "5"`.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
}

const SHOWN_BYTES = 80;

/** A value as it stands in an error message: JSON where there is one, on one line, not too long. */
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
    // Cycles, big integers inside: the message must not fail because of what it reports.
    return `an ${typeof value}`;
  }
}

/** Of another realm, such as `vm`'s, too. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

/** What was thrown, as an error; anything may be. */
export function errorOf(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(textOf(thrown));
}

/**
 * A promise that is rejected with an error of which the stack names who waits. For what goes wrong
 * in a callback: an error that was made there would name nobody.
 *
 * @param make Called once it is known who waits, if a promise was resolved with this one at once.
 */
export async function failing(make: () => unknown): Promise<never> {
  await undefined;
  await undefined;
  throw make();
}

/** Whether it is the system's error of this name, such as `ENOENT`. */
export function hasCode(thrown: unknown, code: string): boolean {
  return isError(thrown) && 'code' in thrown && thrown.code === code;
}

/** What an error says; anything may be thrown. */
export function messageOf(thrown: unknown): string {
  return textOf(isError(thrown) ? thrown.message : thrown);
}

/** What an error says, with its name before it; anything may be thrown. */
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
 * Calls what is a caller's. If it throws, or returns a promise that is rejected, `failed` is told:
 * a rejection that nobody handles would end the host.
 *
 * @param failed Must not throw.
 * @returns Settles when what was returned has; undefined when that is no promise, of any make.
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

/** For what a caller's function has returned in place of a value: a promise that is rejected. */
export function disregard(returned: unknown): void {
  if (isObject(returned)) Promise.resolve(returned).catch(() => {});
}

/** Anything with a `then` may be a promise; to ask for it is `Promise.resolve()`'s affair. */
function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
