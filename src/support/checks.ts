import { InputError, showValue } from './errors.js';
import { unknownName } from './names.js';

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

/**
 * Half of a surrogate pair is no character: as UTF-8 it would become another one, and what runs would
 * not be what was said.
 *
 * @throws {InputError} It has one.
 */
export function checkWellFormed(name: string, text: string): void {
  if (text.isWellFormed()) return;
  const at = /\p{Surrogate}/u.exec(text)?.index;
  throw new InputError(`${name}: expected text without lone surrogates, got one at index ${at}`);
}

/** @throws {InputError} It is given, and not an object with this method, such as a logger. */
export function checkMethod(name: string, method: string, value: unknown): void {
  if (isMissing(value)) return;
  if (typeof value === 'object' && typeof Reflect.get(value, method) === 'function') return;
  throw new InputError(`${name}: expected an object with ${method}(), got ${showValue(value)}`);
}

/** The names that options may have: each of the type's, so that none is forgotten. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** How what is wrong with a name is told. */
interface Telling {
  /** What stands before an option's name, such as `timeout.`. */
  readonly within?: string;
  /** Names that people take for one of ours, and what to tell them. */
  readonly mistakes?: Readonly<Record<string, string>>;
}

/**
 * What a caller has given as options, without what is `null`: that is left out, as `undefined` is.
 * A name that is not known is refused, since an option that does nothing is worse than an error.
 *
 * It is on every command's way: what is right costs one look at each name, and makes nothing.
 *
 * @param name What the options are called in a message that is about all of them.
 * @throws {InputError} They are no object, or have a name that is not known.
 */
export function readOptions<Options extends object>(
  name: string,
  given: Options,
  known: OptionNames<Options>,
  telling?: Telling,
): Options {
  checkObject(name, given);
  let nulls = false;
  for (const key in given) {
    const value: unknown = given[key];
    if (value === null) nulls = true;
    // What every object inherits, such as `constructor`, is not `true`.
    else if (value !== undefined && known[key] !== true) refuseName(key, known, telling);
  }
  return nulls ? withoutNulls(given) : given;
}

function refuseName(
  key: string,
  known: object,
  { within = '', mistakes = {} }: Telling = {},
): never {
  const mistake = Object.hasOwn(mistakes, key) ? mistakes[key] : undefined;
  throw new InputError(
    mistake === undefined
      ? unknownName(key, Object.keys(known), within)
      : `${within}${key}: not known here, ${mistake}`,
  );
}

/** A copy, with what is inherited as well: nobody else looks at the prototype. */
function withoutNulls<Options extends object>(given: Options): Options {
  const copy: Partial<Options> = {};
  for (const key in given) if (given[key] !== null) copy[key] = given[key];
  return copy as Options;
}
