import { types } from 'node:util';
import { checkWellFormed, isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { absolutePath, isUrl } from '../support/paths.js';
import { signalNumber } from '../support/signals.js';
import type { ExecuteOptions, SpillOptions } from './command-options.js';

/** The most bytes kept of each end of a stream: both together are about JavaScript's longest string. */
export const MOST_KEPT_BYTES = 256 * 1024 * 1024;

const SPILL_NAMES: OptionNames<SpillOptions> = { path: true, maxBytes: true, afterBytes: true };

/**
 * Checks that a value is one of the allowed words, or undefined.
 *
 * @throws {InputError} The value is none of them; the message names the words.
 */
export function checkOneOf(name: string, allowed: readonly string[], value: unknown): void {
  if (value === undefined || allowed.includes(value as string)) return;
  fail(name, allowed.map((one) => `'${one}'`).join(' or '), value);
}

/** @throws {InputError} `value` is no whole number of bytes from 0 to {@link MOST_KEPT_BYTES}. */
export function checkSize(name: string, value: unknown): void {
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > MOST_KEPT_BYTES) {
    fail(name, `a whole number of bytes from 0 to ${MOST_KEPT_BYTES}`, value);
  }
}

/**
 * Checks a time in milliseconds.
 *
 * @param least The shortest time allowed. Default: any above 0.
 * @throws {InputError} `value` is no number, or less than `least`.
 */
export function checkTime(name: string, value: unknown, least = Number.MIN_VALUE): void {
  if (typeof value !== 'number' || !(value >= least)) {
    fail(name, `a number of milliseconds ${least === 0 ? 'of 0 or more' : 'above 0'}`, value);
  }
}

/** @throws {InputError} `umask` is no whole number from 0 to 0o777. */
export function checkUmask(value: unknown): void {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0o777) return;
  fail('umask', 'a whole number from 0 to 0o777 (511)', value);
}

/** The largest number of starts at once; no start waits for so many. */
const MOST_STARTS = 1_000_000;

/** @throws {InputError} `startsAtOnce` is no whole number from 1 to 1,000,000. */
export function checkStartsAtOnce(value: unknown): void {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_STARTS) return;
  fail('startsAtOnce', `a whole number from 1 to ${MOST_STARTS}`, value);
}

/** @throws {InputError} `cwd` is neither a path nor a `file:` URL. */
export function checkDirectory(value: unknown): void {
  if (typeof value === 'object' && isUrl(value)) absolutePath('cwd', value);
  else checkPath('cwd', value);
}

function checkPath(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) {
    fail(name, 'a path: a string that is not empty and has no NUL', value);
  }
  checkWellFormed(name, value);
}

/** @throws {InputError} `spill` is neither a path nor {@link SpillOptions}. */
export function checkSpill(spill: unknown): void {
  if (typeof spill !== 'object' || spill === null) {
    checkPath('spill', spill);
    return;
  }
  const given = spill as SpillOptions;
  readOptions('spill', given, SPILL_NAMES, { within: 'spill.' });
  checkPath('spill.path', given.path);
  for (const name of ['maxBytes', 'afterBytes'] as const) {
    const value = given[name];
    if (!isMissing(value) && !(Number.isSafeInteger(value) && value >= 0)) {
      fail(`spill.${name}`, 'a whole number of bytes of 0 or more', value);
    }
  }
}

/** @throws {InputError} `data` is neither well-formed text nor bytes. */
export function checkData(name: string, data: unknown): void {
  if (typeof data === 'string') {
    checkWellFormed(name, data);
    return;
  }
  if (types.isUint8Array(data)) return;
  fail(name, 'a string or a Uint8Array', data);
}

/** @throws {InputError} `shell` is no list of absolute paths. */
export function checkShell(shell: unknown): void {
  if (shell === undefined) return;
  if (!Array.isArray(shell) || shell.length === 0) {
    fail('shell', 'an array of at least one absolute path', shell);
  }
  for (const path of shell) {
    checkPath('shell', path);
    if (!path.startsWith('/')) fail('shell', 'absolute paths', path);
  }
}

/** @throws {InputError} `graceMs` is no time of 0 ms or more. */
export function checkGrace(graceMs: unknown): void {
  if (graceMs !== undefined) checkTime('graceMs', graceMs, 0);
}

/** @throws {InputError} `signal` is not the name of a signal that the engine sends. */
export function checkSignal(signal: unknown): asserts signal is NodeJS.Signals {
  const number = typeof signal === 'string' ? signalNumber(signal) : undefined;
  // Real-time signals can end commands, but the engine does not send them.
  if (number !== undefined && number < 32) return;
  fail('signal', 'the name of a signal, such as SIGINT', signal);
}

/**
 * Checks the options of a command that is written to and read from while it runs.
 *
 * @throws {InputError} `stdin` or `overflow` is none of its words, or another option excludes it.
 */
export function checkLiveOptions(
  options: Readonly<Partial<Record<'stdin' | 'overflow' | 'input' | 'pty', unknown>>>,
): void {
  checkOneOf('stdin', ['null', 'pipe'], options.stdin);
  checkOneOf('overflow', ['drop', 'pause'], options.overflow);
  if (options.stdin === 'pipe' && options.input !== undefined) {
    fail('input', "nothing beside stdin: 'pipe'", options.input);
  }
  if (options.pty && options.stdin === 'null') {
    fail('stdin', 'nothing beside pty, whose input is the terminal', options.stdin);
  }
}

/** Returns the path of the spill file as it was given; undefined: there is none. */
export function spillPathOf(spill: ExecuteOptions['spill']): string | undefined {
  return typeof spill === 'object' ? spill.path : spill;
}

/** @throws {InputError} Always: names the option, the expected value and the given one. */
export function fail(name: string, expected: string, value: unknown): never {
  throw new InputError(`${name}: expected ${expected}, got ${showValue(value)}`);
}
