import { type OptionNames, readOptions, wholeFrom } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import {
  resolveShellOptions,
  SHELL_OPTION_NAMES,
  type ShellOptions,
  type ShellSettings,
} from '../options.js';

/** Options of the `session` contract. `cwd` is where the session starts. */
export interface SessionOptions extends ShellOptions {
  /**
   * The timeout of a call that asks for none, in milliseconds; brought within `maxTimeoutMs`.
   * Default: 120,000.
   */
  readonly timeoutMs?: number | undefined;
  /** The longest timeout that a call can get, in milliseconds. Default: 600,000. */
  readonly maxTimeoutMs?: number | undefined;
  /** Characters shown of each stream, from its beginning. Default: 30,000. */
  readonly maxCharacters?: number | undefined;
  /** How many tasks may run in the background at once. Default: 10. */
  readonly maxRunningTasks?: number | undefined;
  /**
   * How many tasks that have ended and were not asked for are kept; of more, the oldest are
   * forgotten. Default: 100.
   */
  readonly maxEndedTasks?: number | undefined;
}

const NAMES: OptionNames<SessionOptions> = {
  ...SHELL_OPTION_NAMES,
  timeoutMs: true,
  maxTimeoutMs: true,
  maxCharacters: true,
  maxRunningTasks: true,
  maxEndedTasks: true,
};

/** The options with everything decided. */
export interface SessionSettings extends ShellSettings {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly maxCharacters: number;
  readonly maxRunningTasks: number;
  readonly maxEndedTasks: number;
}

/** What two streams can be kept of, four bytes a character, without a string being too long. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveSessionOptions(given: SessionOptions): SessionSettings {
  const options = readOptions('options', given, NAMES);
  const maxTimeoutMs = wholeFrom('maxTimeoutMs', 1, options.maxTimeoutMs ?? 600_000);
  const timeoutMs = wholeFrom('timeoutMs', 1, options.timeoutMs ?? 120_000);
  const maxCharacters = wholeFrom('maxCharacters', 1, options.maxCharacters ?? 30_000);
  if (maxCharacters > MOST_CHARACTERS) {
    const given = showValue(maxCharacters);
    throw new InputError(`maxCharacters: expected at most ${MOST_CHARACTERS}, got ${given}`);
  }
  return {
    ...resolveShellOptions(options, { inheritEnv: 'scrubbed', graceMs: 5000 }),
    timeoutMs: Math.min(timeoutMs, maxTimeoutMs),
    maxTimeoutMs,
    maxCharacters,
    maxRunningTasks: wholeFrom('maxRunningTasks', 1, options.maxRunningTasks ?? 10),
    maxEndedTasks: wholeFrom('maxEndedTasks', 1, options.maxEndedTasks ?? 100),
  };
}
