import type { MergedResult, RunResult, SeparateResult } from '../engine/outcome.js';
import { checkOptions } from '../options/check.js';
import type { CommandOptions } from '../options/command-options.js';
import { MISTAKES, namesOf } from '../options/roads.js';
import { overTerminal, TERMINAL_DEFAULTS } from '../options/terminal.js';
import { readOptions } from '../support/checks.js';
import { absolutePath } from '../support/paths.js';
import { refused } from '../support/timing.js';
import type { CommandLine } from './command-line.js';
import { resolveEnvironment } from './environment.js';
import { execute } from './execute.js';

const NAMES = namesOf('run');
const TELLING = { mistakes: MISTAKES };

/**
 * Runs a command to its end and returns everything about it. The promise resolves even if the command
 * fails: look at `result.outcome`.
 *
 * ```ts
 * const result = await run('make -j8', { timeoutMs: 60_000 });
 * if (result.outcome.kind === 'exited') console.log(result.outcome.exitCode);
 * ```
 *
 * @param command Shell text; or an array of a program and its arguments, which runs without a shell. The
 *   program is looked up on the command's PATH unless it has a slash; the arguments reach it unchanged.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started: no such directory, no such program, out of
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
    const options = readOptions('options', given, NAMES, TELLING);
    checkOptions(options);
    return execute(command, commandEnvironment(options), options);
  } catch (error) {
    return refused(error);
  }
}

/**
 * Makes the environment block of a command from its options, which must have been checked.
 *
 * @throws {InputError} A variable's name or value is not valid.
 */
export function commandEnvironment(
  options: Pick<CommandOptions, 'cwd' | 'env' | 'inheritEnv' | 'pty'>,
): string {
  return resolveEnvironment({
    inherit: options.inheritEnv ?? 'scrubbed',
    defaults: options.pty ? TERMINAL_DEFAULTS : undefined,
    overrides: options.pty ? overTerminal(options.env) : options.env,
    // Becomes `PWD`.
    cwd: options.cwd === undefined ? undefined : absolutePath('cwd', options.cwd),
  });
}
