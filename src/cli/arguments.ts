import { type Command, InvalidArgumentError } from 'commander';
import { messageOf } from '../support/errors.js';

const SECONDS = /^\d+(\.\d+)?$/;
const SIZE = /^(\d+)([KMG]?)$/i;
const FACTORS: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Parses seconds, `5` or `0.5`, and returns milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = SECONDS.test(text) ? Number(text) : 0;
  if (seconds <= 0) throw new InvalidArgumentError('Expected a number of seconds above 0.');
  return Math.max(1, Math.round(seconds * 1000));
}

/** Parses a whole number from 1. */
export function parseCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('Expected a whole number of 1 or more.');
}

/** Parses a TCP port; 0 stands for any free one. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return port;
}

/** Parses a size in bytes: `1000`, `64K`, `1M`; 1,024-based. */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = SIZE.exec(text) ?? [];
  const factor = FACTORS[unit.toUpperCase()];
  if (digits === undefined || factor === undefined) {
    throw new InvalidArgumentError('Expected a number of bytes, such as 4096, 64K or 1M.');
  }
  const bytes = Number(digits) * factor;
  if (!Number.isSafeInteger(bytes)) throw new InvalidArgumentError('Too large.');
  return bytes;
}

/** Parses a umask in octal: `077`, `0o22`. */
export function parseUmask(text: string): number {
  const [, digits] = /^(?:0o)?([0-7]{1,4})$/i.exec(text) ?? [];
  const umask = digits === undefined ? Number.NaN : Number.parseInt(digits, 8);
  if (!(umask <= 0o777)) throw new InvalidArgumentError('Expected octal digits, from 0 to 777.');
  return umask;
}

/** Adds `NAME=value` to the variables that were given before. */
export function collectVariable(
  text: string,
  given: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('Expected NAME=value.');
  return { ...given, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Adds `NAME=value`, or `NAME` with this process's own value, to the variables that were given before. */
export function collectEnvironment(
  text: string,
  given: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  if (text.includes('=')) return collectVariable(text, given);
  const own = process.env[text];
  if (own === undefined) {
    throw new InvalidArgumentError('Expected NAME=value, or NAME of a variable that is set here.');
  }
  return { ...given, [text]: own };
}

/**
 * Refuses options that mean nothing without another one.
 *
 * @param needed The attribute of the option that they need.
 * @param what The purpose of the options, such as `for a server on a port`.
 */
export function checkBeside(
  command: Command,
  needed: string,
  names: readonly string[],
  what: string,
): void {
  if (command.getOptionValue(needed) !== undefined) return;
  const flagOf = (name: string): string | undefined =>
    command.options.find((option) => option.attributeName() === name)?.long;
  for (const name of names) {
    // A value from the environment alone is no mistake: it may be meant for other calls.
    if (command.getOptionValueSource(name) !== 'cli') continue;
    command.error(`error: option '${flagOf(name)}' is ${what}: add ${flagOf(needed)}`);
  }
}

/** Parses options that are a JSON object. */
export function parseOptions(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidArgumentError('Expected a JSON object.');
}
