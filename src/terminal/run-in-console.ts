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

/** How a command is run in a console: the console decides about the terminal's size. */
export type ConsoleOptions = OptionsOf<'console'> & {
  /** Shows it. */
  readonly ui: TerminalUi;
  /** What ends the command. Default: 'Esc'. */
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

/** How a command in a console ended. */
export interface ConsoleResult {
  /** How the command ended, as `run()` tells it. */
  readonly result: MergedResult;
  /** What was kept of its output, as a person would have read it: see the docs of `pty`. */
  readonly text: string;
  /** The person ended it, by its key or by closing the console. */
  readonly dismissed: boolean;
}

/**
 * Runs a command on a terminal that a person sees and types into. Esc ends it, as `kill()` would;
 * a second Esc does not wait for its grace. (Ctrl-^ sends the command an ESC.) Another key can be
 * chosen for that, so that Esc is the command's.
 *
 * ```ts
 * const ui = createTtyUi(process.stdin, process.stdout);
 * const { result, text } = await runInConsole('git commit', { ui, cwd });
 * ```
 *
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} It could not be started.
 * @throws What the interface throws when it cannot open the console.
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
  // A user interface may take its time; what was asked for stays what it is.
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
