import { types } from 'node:util';
import { type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { OutputFilter } from './filter.js';
import { createRuleFilter, type NoiseRule } from './rules/rule-filter.js';

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

/** Filters made here, which call `mustStay` only for lines that they would leave out. */
const made = new WeakSet<OutputFilter>();

/** Returns whether {@link createLineFilter} made the filter. */
export function isLineFilter(filter: OutputFilter): boolean {
  return made.has(filter);
}

/**
 * Makes a filter that leaves out the lines that match, except for those that must stay: see `OutputFilter`.
 *
 * @example
 * createLineFilter({
 *   name: 'deploy',
 *   programs: ['deploy'],
 *   noise: [{ what: 'uploads', pattern: /^uploading \S+ \.\.\. ok$/ }],
 * });
 *
 * @throws {InputError} An option is not valid.
 */
export function createLineFilter(options: LineFilterOptions): OutputFilter {
  checkLineFilter(options);
  const { name, programs, noise } = options;
  const filter = createRuleFilter({
    name,
    programs,
    noise: noise.map(({ what, pattern }) => ({ what, pattern })),
  });
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
