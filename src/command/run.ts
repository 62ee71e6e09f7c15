import type { MergedResult, RunResult, SeparateResult } from '../engine/outcome.js';
import { type OptionNames, readOptions } from '../support/checks.js';
import { absolutePath, isUrl } from '../support/paths.js';
import { refused } from '../support/timing.js';
import type { CommandLine } from './command-line.js';
import { checkVariables, resolveEnvironment } from './environment.js';
import { execute } from './execute.js';
import { EXECUTE_OPTION_NAMES, type ExecuteOptions } from './options.js';
import { overTerminal, TERMINAL_DEFAULTS } from './terminal.js';

/** What a command's environment is made of. */
export interface EnvironmentOptions {
  /** Over the inherited variables; `undefined` removes one. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The host's own variables: without those whose names look like secrets (the default), all of
   * them, or none. What steers a shell (`BASH_ENV`, `PS1`, exported functions) is never inherited.
   */
  readonly inheritEnv?: 'scrubbed' | 'all' | 'none' | undefined;
}

/** How a command is run. Times in milliseconds, sizes in bytes; all fields are optional. */
export type CommandOptions = ExecuteOptions & EnvironmentOptions;

/** The names of those options. */
export const COMMAND_OPTION_NAMES: OptionNames<CommandOptions> = {
  ...EXECUTE_OPTION_NAMES,
  env: true,
  inheritEnv: true,
};

/** Taken for one of them by people who come from other libraries. */
export const COMMAND_MISTAKES = {
  timeout: 'the time limit is timeoutMs, in milliseconds',
  maxBuffer: 'output of any length is fine: headBytes and tailBytes say how much of it is kept',
  killSignal: 'commands are ended by SIGTERM, and after graceMs by SIGKILL',
} as const;

const TELLING = { mistakes: COMMAND_MISTAKES };

/**
 * Runs a command to its end and tells everything about it. It resolves whatever the command does:
 * look at `result.outcome`.
 *
 * ```ts
 * const result = await run('make -j8', { timeoutMs: 60_000 });
 * if (result.outcome.kind === 'exited') console.log(result.outcome.exitCode);
 * ```
 *
 * @param command Shell text; or a program, which is looked for on the command's PATH unless it has a
 *   slash, and its arguments, which reach it as they are: no shell is there.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} It could not be started: no such directory, no such program, out of
 *   processes, ...
 */
export function run(
  command: CommandLine,
  options: CommandOptions & { readonly streams: 'separate' },
): Promise<SeparateResult>;
export function run(
  command: CommandLine,
  options?: CommandOptions & { readonly streams?: 'merged' },
): Promise<MergedResult>;
export function run(command: CommandLine, options?: CommandOptions): Promise<RunResult>;
export function run(command: CommandLine, given: CommandOptions = {}): Promise<RunResult> {
  try {
    const options = readOptions('options', given, COMMAND_OPTION_NAMES, TELLING);
    return execute(command, commandEnvironment(options), options);
  } catch (error) {
    return refused(error);
  }
}

/**
 * The environment block that a command with these options gets.
 *
 * @throws {InputError} What they say of the environment is not valid.
 */
export function commandEnvironment(options: CommandOptions): string {
  if (options.env !== undefined) checkVariables(options.env);
  return resolveEnvironment({
    inherit: options.inheritEnv ?? 'scrubbed',
    defaults: options.pty ? TERMINAL_DEFAULTS : undefined,
    overrides: options.pty ? overTerminal(options.env) : options.env,
    cwd: namedDirectory(options.cwd),
  });
}

/** What `PWD` will say. What is not a path is left for the check of the options to refuse. */
function namedDirectory(cwd: unknown): string | undefined {
  if (typeof cwd === 'object' && isUrl(cwd)) return absolutePath('cwd', cwd);
  if (typeof cwd !== 'string' || cwd === '' || cwd.includes('\0')) return undefined;
  return absolutePath('cwd', cwd);
}
