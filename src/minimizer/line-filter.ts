import { types } from 'node:util';
import { type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { Omission, OutputFilter } from './filter.js';
import { mayRun } from './programs.js';

/** Lines of one kind of noise. */
export interface NoiseRule {
  /** A few words for the lines in the marker. */
  readonly what: string;
  /** Matches a whole line; anchored, and without expressions that could take long. */
  readonly pattern: RegExp;
}

/** Options of a filter that is defined by patterns. */
export interface LineFilterOptions {
  /** Name of the filter in reports. */
  readonly name: string;
  /**
   * Programs that the filter is for; programs that run others (make, npm, scripts) count too. Default:
   * all.
   */
  readonly programs?: readonly string[] | undefined;
  /** The kinds of lines that are noise. */
  readonly noise: readonly NoiseRule[];
}

const NAMES: OptionNames<LineFilterOptions> = { name: true, programs: true, noise: true };
const RULE_NAMES: OptionNames<NoiseRule> = { what: true, pattern: true };

/** Longer lines are not examined: patterns are for lines of progress. */
const LONGEST_LINE = 2000;

/** Filters made here, which call `mustStay` only for lines that they would leave out. */
const made = new WeakSet<OutputFilter>();

/** Returns whether {@link createLineFilter} made the filter. */
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
