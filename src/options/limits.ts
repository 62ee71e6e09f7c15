import { needsNativeEngine } from '../engine/choice.js';
import { isMissing, type OptionNames, readOptions, wholeFrom } from '../support/checks.js';

/** What a command, with all that it starts, may take at most. */
export interface CommandLimits {
  /**
   * Bytes of memory, without what can be read again from disk. One that takes more is ended; where no
   * control group can be made it is ended before its host instead: see `result.limits`.
   */
  readonly memoryBytes?: number | undefined;
  /**
   * How many processes and threads at a time, 1 to 4,194,304. One more can't be started: `fork` fails
   * with EAGAIN.
   */
  readonly processes?: number | undefined;
  /** Processor time of each of its processes, in seconds. One that takes more gets SIGXCPU. */
  readonly cpuSeconds?: number | undefined;
}

const NAMES: OptionNames<CommandLimits> = { memoryBytes: true, processes: true, cpuSeconds: true };

/** Less and no shell could start. */
const LEAST_MEMORY = 1024 * 1024;

/** There are never more process ids, and no control group takes a larger number. */
const MOST_PROCESSES = 4 * 1024 * 1024;

/**
 * The limits that are asked for; undefined: none.
 *
 * @throws {InputError} They are none: names the field.
 */
export function readLimits(given: CommandLimits | undefined): CommandLimits | undefined {
  if (isMissing(given)) return undefined;
  needsNativeEngine('limits', given, 'nothing');
  const limits = readOptions('limits', given, NAMES, { within: 'limits.' });
  const { memoryBytes, processes, cpuSeconds } = limits;
  if (memoryBytes !== undefined) wholeFrom('limits.memoryBytes', LEAST_MEMORY, memoryBytes);
  if (processes !== undefined) wholeFrom('limits.processes', 1, processes, MOST_PROCESSES);
  if (cpuSeconds !== undefined) wholeFrom('limits.cpuSeconds', 1, cpuSeconds);
  return limits;
}
