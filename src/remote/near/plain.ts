import { types } from 'node:util';
import { InputError, showValue } from '../../support/errors.js';
import { absolutePath, isUrl } from '../../support/paths.js';

/** Data that JSON can carry, and so another machine can get. */
type Plain =
  | null
  | boolean
  | number
  | string
  | readonly Plain[]
  | { readonly [name: string]: Plain };

/**
 * Returns options as they are sent: without `undefined` and `null`, a `file:` URL as its path, and a
 * regular expression of a rule for programs as its source and flags.
 *
 * @param instead Advice for a value that cannot be sent, such as a function.
 * @throws {InputError} Names a field that is no plain data.
 */
export function plainOptions(
  options: Readonly<Record<string, unknown>>,
  instead: string,
): Readonly<Record<string, Plain>> {
  return objectOf('', options, instead);
}

/**
 * Returns the input of a call as it is sent.
 *
 * @throws {InputError} Names a field that is no plain data.
 */
export function plainData(name: string, value: unknown): Plain {
  return plainValue(name, value, 'leave it out');
}

function objectOf(within: string, value: object, instead: string): Record<string, Plain> {
  const plain: Record<string, Plain> = {};
  for (const [name, field] of Object.entries(value)) {
    // In an environment, a variable without a value is one to be removed.
    if (field === undefined && within !== 'env.') continue;
    plain[name] = plainValue(`${within}${name}`, field ?? null, instead);
  }
  return plain;
}

function plainValue(name: string, value: unknown, instead: string): Plain {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return numberOf(name, value);
  if (Array.isArray(value)) {
    return value.map((item, index) => plainValue(`${name}[${index}]`, item, instead));
  }
  if (name.startsWith('sandbox.exec.') && types.isRegExp(value)) {
    return { matches: value.source, flags: value.flags };
  }
  if (isUrl(value)) return absolutePath(name, value);
  if (typeof value === 'object' && isPlainObject(value)) {
    return objectOf(`${name}.`, value, instead);
  }
  throw new InputError(
    `${name}: expected plain data, since it goes to another machine, got ${describe(value)}; ${instead}`,
  );
}

function numberOf(name: string, value: number): number {
  if (Number.isFinite(value)) return value;
  // The largest time or size stands for infinity, which JSON does not have.
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  throw new InputError(`${name}: expected a number, got ${showValue(value)}`);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm has that realm's `Object.prototype`, which has no prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return showValue(value);
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an object of ${name}` : 'an object';
}
