import { checkShellText } from '../command/command-line.js';
import { commandEnvironment } from '../command/run.js';
import { spawnIn } from '../command/spawn.js';
import type { MergedResult } from '../engine/outcome.js';
import { checkOptions } from '../options/check.js';
import { MISTAKES, namesOf, type OptionsOf } from '../options/roads.js';
import { type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { inLaterTurn } from '../support/timing.js';
import { Console } from './console.js';
import { optionsOfNow } from './options-now.js';
import { readableCapture } from './readable.js';
import type { EndKey, TerminalUi } from './ui.js';

/** Options of a command in a console. The console decides on the terminal's size. */
export type ConsoleOptions = OptionsOf<'console'> & {
  /** The user interface that shows the command. */
  readonly ui: TerminalUi;
  /** The key that ends the command. Default: 'Esc'. */
  readonly endKey?: EndKey | undefined;
};

const CONSOLE_NAMES: OptionNames<ConsoleOptions> = {
  ...namesOf('console'),
  ui: true,
  endKey: true,
};
const CONSOLE_MISTAKES = {
  ...MISTAKES,
  onDenied: 'look at result.sandbox.denials, and run it again yourself',
};

/** The result of a command in a console. */
export interface ConsoleResult {
  /** The command's result, as that of `run()`. */
  readonly result: MergedResult;
  /** The kept output, as a person would have read it: see the docs of `pty`. */
  readonly text: string;
  /** Whether the user ended the command, by its key or by closing the console. */
  readonly dismissed: boolean;
}

/**
 * Runs a command on a terminal that the user sees and types into. Esc ends it, as `kill()` would; a
 * second Esc does not wait for its grace period. (Ctrl-^ sends the command an ESC.) Another key can be
 * chosen to end it, so that Esc is sent to the command.
 *
 * ```ts
 * const ui = createTtyUi(process.stdin, process.stdout);
 * const { result, text } = await runInConsole('git commit', { ui, cwd });
 * ```
 *
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started.
 * @throws The error of a user interface that cannot open the console.
 */
export function runInConsole(
  command: string,
  consoleOptions: ConsoleOptions,
): Promise<ConsoleResult> {
  return inLaterTurn(() => runShown(command, consoleOptions));
}

async function runShown(command: string, consoleOptions: ConsoleOptions): Promise<ConsoleResult> {
  const {
    ui,
    endKey = 'Esc',
    ...options
  } = readOptions('options', consoleOptions, CONSOLE_NAMES, {
    mistakes: CONSOLE_MISTAKES,
  });
  if (typeof ui?.openConsole !== 'function') {
    throw new InputError(`ui: expected a terminal UI with openConsole(), got ${showValue(ui)}`);
  }
  if (endKey !== 'Esc' && endKey !== 'Ctrl-]') {
    throw new InputError(`endKey: expected 'Esc' or 'Ctrl-]', got ${showValue(endKey)}`);
  }
  checkShellText(command);
  checkOptions(options);
  const environment = commandEnvironment({ ...options, pty: true });
  const kept = optionsOfNow(options);
  // Opening the user interface may take time, in which the options must not change.
  const console = await Console.open(ui, command, {}, endKey);
  try {
    const asked = { ...kept, pty: console.size, encoding: 'bytes' } as const;
    const live = await spawnIn(environment, command, asked);
    const { result, dismissed, size } = await console.run(live);
    return { result, dismissed, text: await readableCapture(result.output, size) };
  } finally {
    await console.close();
  }
}
