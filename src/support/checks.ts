import { InputError, showValue } from './errors.js';
import { unknownName } from './names.js';

/** @throws {InputError} `value` is not a finite number of `min` or more. */
export function atLeast(name: string, min: number, value: number): number {
  if (Number.isFinite(value) && value >= min) return value;
  throw new InputError(`${name}: expected a number from ${min}, got ${showValue(value)}`);
}

/** @throws {InputError} `value` is not a whole number from `min` to `max`. */
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

/** Returns whether nothing was given: to a caller, `null` and `undefined` are the same. */
export function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** @throws {InputError} `value` is not an object that options can be read from. */
export function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new InputError(`${name}: expected an object, got ${showValue(value)}`);
}

/** @throws {InputError} `value` is given and is neither true nor false. */
export function checkSwitch(name: string, value: unknown): void {
  if (isMissing(value) || typeof value === 'boolean') return;
  throw new InputError(`${name}: expected true or false, got ${showValue(value)}`);
}

/** @throws {InputError} `value` is given and is not a function. */
export function checkFunction(name: string, value: unknown): void {
  if (isMissing(value) || typeof value === 'function') return;
  throw new InputError(`${name}: expected a function, got ${showValue(value)}`);
}

/** @throws {InputError} `value` is given and is not a string. */
export function checkString(name: string, value: unknown): void {
  if (isMissing(value) || typeof value === 'string') return;
  throw new InputError(`${name}: expected a string, got ${showValue(value)}`);
}

/**
 * Refuses text with half of a surrogate pair, which would become another character as UTF-8.
 *
 * @throws {InputError} `text` has a lone surrogate.
 */
export function checkWellFormed(name: string, text: string): void {
  if (text.isWellFormed()) return;
  const at = /\p{Surrogate}/u.exec(text)?.index;
  throw new InputError(`${name}: expected text without lone surrogates, got one at index ${at}`);
}

/** @throws {InputError} `value` is given and is not an object with this method, such as a logger. */
export function checkMethod(name: string, method: string, value: unknown): void {
  if (isMissing(value)) return;
  if (typeof value === 'object' && typeof Reflect.get(value, method) === 'function') return;
  throw new InputError(`${name}: expected an object with ${method}(), got ${showValue(value)}`);
}

/** The names of a type's options. The type makes sure that none is forgotten. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** Details for the message about an unknown name. */
interface NameErrorDetails {
  /** Text before an option's name, such as `timeout.`. */
  readonly within?: string;
  /** Names that people mistake for an option, and what to tell them. */
  readonly mistakes?: Readonly<Record<string, string>>;
}

/**
 * Returns the options that a caller gave, without those that are `null`, which count as left out, as
 * `undefined` does. Refuses an unknown name, since an option that does nothing is worse than an error.
 *
 * Every command passes through here: valid options cost one look-up for each name, and no allocation.
 *
 * @param name The name of the options as a whole in error messages.
 * @throws {InputError} They are not an object, or have an unknown name.
 */
export function readOptions<Options extends object>(
  name: string,
  given: Options,
  known: OptionNames<Options>,
  details?: NameErrorDetails,
): Options {
  checkObject(name, given);
  let nulls = false;
  for (const key in given) {
    const value: unknown = given[key];
    if (value === null) nulls = true;
    // An inherited name of every object, such as `constructor`, is not `true`.
    else if (value !== undefined && known[key] !== true) refuseName(key, known, details);
  }
  return nulls ? withoutNulls(given) : given;
}

function refuseName(
  key: string,
  known: object,
  { within = '', mistakes = {} }: NameErrorDetails = {},
): never {
  const mistake = Object.hasOwn(mistakes, key) ? mistakes[key] : undefined;
  throw new InputError(
    mistake === undefined
      ? unknownName(key, Object.keys(known), within)
      : `${within}${key}: not known here, ${mistake}`,
  );
}

/** Returns a copy, inherited options included, since later code does not look at the prototype. */
function withoutNulls<Options extends object>(given: Options): Options {
  const copy: Partial<Options> = {};
  for (const key in given) if (given[key] !== null) copy[key] = given[key];
  return copy as Options;
}
