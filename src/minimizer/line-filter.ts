import { types } from 'node:util';
import { type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { Omission, OutputFilter } from './filter.js';
import { mayRun } from './programs.js';

/** Lines of one kind. */
export interface NoiseRule {
  /** What they are, a few words for the marker. */
  readonly what: string;
  /** Matches a whole line; anchored, and without anything that could take long. */
  readonly pattern: RegExp;
}

/** A filter as data. */
export interface LineFilterOptions {
  /** What it is called in reports. */
  readonly name: string;
  /**
   * Programs whose output it is for; what runs other programs (make, npm, scripts) counts too.
   * Default: all.
   */
  readonly programs?: readonly string[] | undefined;
  /** Which lines are noise. */
  readonly noise: readonly NoiseRule[];
}

const NAMES: OptionNames<LineFilterOptions> = { name: true, programs: true, noise: true };
const RULE_NAMES: OptionNames<NoiseRule> = { what: true, pattern: true };

/** No line that is longer is looked at: patterns are for what programs say of their progress. */
const LONGEST_LINE = 2000;

/** Filters that ask whether a line must stay only of lines that they would leave out. */
const made = new WeakSet<OutputFilter>();

/** Whether {@link createLineFilter} has made it. */
export function isLineFilter(filter: OutputFilter): boolean {
  return made.has(filter);
}

/**
 * Makes a filter that leaves out the lines that match, except for those about errors.
 *
 * @example
 * createLineFilter({
 *   name: 'terraform',
 *   programs: ['terraform'],
 *   noise: [{ what: 'refreshes', pattern: /^\S+: Refreshing state\.\.\./ }],
 * });
 *
 * @throws {InputError} An option is not valid.
 */
export function createLineFilter(options: LineFilterOptions): OutputFilter {
  checkLineFilter(options);
  const { name, programs, noise } = options;
  const filter: OutputFilter = {
    name,
    ...(programs && { applies: (command: string) => mayRun(command, programs) }),
    *filter(lines, mustStay) {
      let open: Omission | undefined;
      for (const [index, line] of lines.entries()) {
        const kind = kindOf(line, noise);
        const what = kind === undefined || mustStay(index) ? undefined : kind;
        if (open !== undefined && open.what !== what) {
          yield open;
          open = undefined;
        }
        if (what === undefined) continue;
        open = { start: open?.start ?? index, end: index + 1, what };
      }
      if (open !== undefined) yield open;
    },
  };
  made.add(filter);
  return filter;
}

function checkLineFilter(options: LineFilterOptions): void {
  const { name, programs, noise } = readOptions('options', options, NAMES);
  if (typeof name !== 'string' || name === '') {
    throw new InputError(`name: expected a name, got ${showValue(name)}`);
  }
  if (programs !== undefined && !Array.isArray(programs)) {
    throw new InputError(`programs: expected an array of names, got ${showValue(programs)}`);
  }
  if (!Array.isArray(noise) || !noise.every((rule) => types.isRegExp(rule?.pattern))) {
    throw new InputError(`noise: expected an array of rules, got ${showValue(noise)}`);
  }
  for (const [index, rule] of noise.entries()) {
    readOptions(`noise[${index}]`, rule, RULE_NAMES, { within: `noise[${index}].` });
  }
}

function kindOf(line: string, noise: readonly NoiseRule[]): string | undefined {
  if (line.length > LONGEST_LINE) return undefined;
  return noise.find(({ pattern }) => pattern.test(line))?.what;
}
