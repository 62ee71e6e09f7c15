import { type OptionNames, readOptions, wholeFrom } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { DEFAULT_OUTPUT_FILTERS } from './default-filters.js';
import type { OutputFilter } from './filter.js';
import { Minimizer } from './minimizer.js';

/** Options for shortening outputs. */
export interface MinimizerOptions {
  /** Filters, tried in this order. Default: `DEFAULT_OUTPUT_FILTERS`. */
  readonly filters?: readonly OutputFilter[] | undefined;
  /** Whether to fold lines, and blocks of up to six lines, that repeat those above them. Default: true. */
  readonly repeats?: boolean | undefined;
  /**
   * Bytes of an output that are examined; of a longer one, the end (and the beginning, with `headBytes`).
   * A command holds that much in memory. Default: 1,048,576.
   */
  readonly maxInputBytes?: number | undefined;
}

const NAMES: OptionNames<MinimizerOptions> = {
  filters: true,
  repeats: true,
  maxInputBytes: true,
};
const DEFAULT_INPUT_BYTES = 1024 * 1024;
const MOST_INPUT_BYTES = 64 * 1024 * 1024;

/**
 * @param warn Called for filters that fail.
 * @returns Undefined: the minimizer is off.
 * @throws {InputError} An option is not valid.
 */
export function createMinimizer(
  given: boolean | MinimizerOptions | undefined,
  warn: (message: string) => void,
): Minimizer | undefined {
  if (given === undefined || given === false) return undefined;
  if (given !== true && (typeof given !== 'object' || given === null)) {
    throw new InputError(`minimizer: expected true, false or options, got ${showValue(given)}`);
  }
  const options = readOptions<MinimizerOptions>('minimizer', given === true ? {} : given, NAMES, {
    within: 'minimizer.',
  });
  const { filters = DEFAULT_OUTPUT_FILTERS, repeats = true } = options;
  if (!Array.isArray(filters)) {
    throw new InputError(`minimizer.filters: expected an array, got ${showValue(filters)}`);
  }
  filters.forEach(checkFilter);
  if (typeof repeats !== 'boolean') {
    throw new InputError(`minimizer.repeats: expected true or false, got ${showValue(repeats)}`);
  }
  const maxInputBytes = wholeFrom(
    'minimizer.maxInputBytes',
    1,
    options.maxInputBytes ?? DEFAULT_INPUT_BYTES,
  );
  if (maxInputBytes > MOST_INPUT_BYTES) {
    const most = `a whole number up to ${MOST_INPUT_BYTES}`;
    throw new InputError(`minimizer.maxInputBytes: expected ${most}, got ${maxInputBytes}`);
  }
  return new Minimizer({ filters, repeats, maxInputBytes }, warn);
}

function checkFilter(filter: Partial<OutputFilter> | undefined, index: number): void {
  const name = `minimizer.filters[${index}]`;
  if (typeof filter?.name !== 'string' || filter.name === '') {
    throw new InputError(`${name}.name: expected a name, got ${showValue(filter?.name)}`);
  }
  if (typeof filter.filter !== 'function') {
    throw new InputError(`${name}.filter: expected a function, got ${showValue(filter.filter)}`);
  }
  if (filter.applies !== undefined && typeof filter.applies !== 'function') {
    throw new InputError(`${name}.applies: expected a function, got ${showValue(filter.applies)}`);
  }
}
