import { needsNativeEngine } from '../engine/choice.js';
import { isMissing, type OptionNames, readOptions, wholeFrom } from '../support/checks.js';

/** The most that a command, with all that it starts, may use. */
export interface CommandLimits {
  /**
   * Bytes of memory, without what can be read again from disk. A command that uses more is ended. Where no
   * control group can be made, the command is instead ended before its host when the system's memory runs
   * out: see `result.limits`. Default: no limit.
   */
  readonly memoryBytes?: number | undefined;
  /**
   * The number of processes and threads at a time, 1 to 4,194,304. Beyond it `fork` fails with EAGAIN.
   * Default: no limit.
   */
  readonly processes?: number | undefined;
  /**
   * Processor time of each process of the command, in seconds. A process that uses more gets SIGXCPU.
   * Default: no limit.
   */
  readonly cpuSeconds?: number | undefined;
}

const NAMES: OptionNames<CommandLimits> = { memoryBytes: true, processes: true, cpuSeconds: true };

/** The smallest limit of memory, in bytes: no shell could start with less. */
const LEAST_MEMORY = 1024 * 1024;

/** The largest limit of processes: the kernel has no more process ids, and control groups take no more. */
const MOST_PROCESSES = 4 * 1024 * 1024;

/**
 * Checks and returns the given limits; undefined: none are given.
 *
 * @throws {InputError} A limit is not valid; the message names the field.
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
