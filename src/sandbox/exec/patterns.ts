import { types } from 'node:util';
import { isMissing, type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';
import type { ArgvPattern } from './exec-policy.js';

/** A regular expression as plain data. */
type Expression = Exclude<ArgvPattern, string | RegExp>;

const NAMES: OptionNames<Expression> = { matches: true, flags: true };
/** Flags of regular expressions that rules have. */
const FLAGS = 'imsu';
/** The most characters of a text in a rule. */
const MOST_CHARACTERS = 1000;

/**
 * Checks a pattern for an argument.
 *
 * @throws {InputError} Names the field, what is expected and what was given.
 */
export function checkPattern(name: string, given: unknown): void {
  if (typeof given === 'string') {
    checkText(name, given, 'a pattern');
    return;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const expected = 'a text, a regular expression or { matches, flags }';
    throw new InputError(`${name}: expected ${expected}, got ${showValue(given)}`);
  }
  const isExpression = types.isRegExp(given);
  const { matches, flags } = isExpression
    ? expressionOf(given)
    : readOptions(name, given as Expression, NAMES, { within: `${name}.` });
  checkText(isExpression ? name : `${name}.matches`, matches, 'a regular expression');
  checkFlags(isExpression ? name : `${name}.flags`, flags);
  try {
    new RegExp(matches, flags ?? '');
  } catch (error) {
    // The message of the language has the source in it, which may be long.
    const why = messageOf(error).split(': ').at(-1);
    const got = showValue(matches);
    throw new InputError(
      `${name}: expected a regular expression of JavaScript, got ${got}: ${why}`,
    );
  }
  checkPortable(name, matches, flags ?? '');
}

/** What JavaScript and the engine that decides read differently, or what that can't do. */
const DIFFERENT: readonly (readonly [found: RegExp, without: string, flags: RegExp])[] = [
  [/\\[1-9k]/, 'references to groups', /^/],
  [/\\u[dD][89a-fA-F]/, 'halves of characters', /^/],
  [/\\u\{/, '`\\u{…}` where there is no flag u', /^[^u]*$/],
  [/[\u{10000}-\u{10ffff}]/u, 'characters beyond U+FFFF where there is no flag u', /^[^u]*$/],
  [/\\p/i, '`\\p` with the flag i', /i/],
];

function checkPortable(name: string, matches: string, flags: string): void {
  // A backslash that is meant itself.
  const source = matches.replaceAll('\\\\', '');
  const different = DIFFERENT.find(([found, , where]) => where.test(flags) && found.test(source));
  if (different === undefined) return;
  const expected = `a regular expression without ${different[1]}`;
  throw new InputError(`${name}: expected ${expected}, got ${showValue(matches)}`);
}

/** Returns a regular expression as plain data, which goes to other processes. */
function expressionOf({ source, flags }: RegExp): Expression {
  return flags === '' ? { matches: source } : { matches: source, flags };
}

/** Returns a valid pattern as the plan of a sandbox has it. */
export function patternWord(pattern: ArgvPattern): string {
  if (typeof pattern === 'string') return `=${pattern}`;
  const { matches, flags } = types.isRegExp(pattern) ? expressionOf(pattern) : pattern;
  return `~${flags ?? ''}~${matches}`;
}

/**
 * Checks that a value is a text that a plan can have.
 *
 * @throws {InputError} It is none, too long, or has NUL or half of a character in it.
 */
export function checkText(name: string, text: unknown, expected: string): asserts text is string {
  if (typeof text !== 'string') {
    throw new InputError(`${name}: expected ${expected}, got ${showValue(text)}`);
  }
  if (text.length > MOST_CHARACTERS) {
    const most = `at most ${MOST_CHARACTERS} characters`;
    throw new InputError(`${name}: expected ${most}, got ${text.length}`);
  }
  if (!text.includes('\0') && text.isWellFormed()) return;
  const without = `${expected} without NUL and lone surrogates`;
  throw new InputError(`${name}: expected ${without}, got ${showValue(text)}`);
}

function checkFlags(name: string, flags: unknown): void {
  if (isMissing(flags)) return;
  const text = typeof flags === 'string' ? flags : undefined;
  const wrong = [...(text ?? '')].find((flag) => !FLAGS.includes(flag));
  if (text !== undefined && wrong === undefined && new Set(text).size === text.length) return;
  const noUse = wrong === 'g' || wrong === 'y' ? `; '${wrong}' is about repeated searches` : '';
  const expected = 'flags of i, m, s and u, each once';
  throw new InputError(`${name}: expected ${expected}, got ${showValue(flags)}${noUse}`);
}
