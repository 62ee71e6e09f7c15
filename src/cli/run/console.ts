import {
  type CommandOptions,
  createTtyUi,
  type RunResult,
  runInConsole,
  type TerminalUi,
} from '../../index.js';
import { note } from '../notes.js';

/** Returns whether the environment forbids terminals, with a note if it does. */
export function isTerminalOff(): boolean {
  const off = ['FORKLINE_NO_PTY', 'PI_NO_PTY'].find((name) => process.env[name] === '1');
  if (off !== undefined) note(`--pty: ${off}=1 is set; the command runs without a terminal`);
  return off !== undefined;
}

/** Returns the user's terminal; `undefined`, with a note, if there is none to be used. */
export function userTerminal(): TerminalUi | undefined {
  const { stdin, stdout } = process;
  if (isTerminalOff()) return undefined;
  if (stdin.isTTY && stdout.isTTY) return createTtyUi(stdin, stdout);
  const which = stdin.isTTY ? 'output' : 'input';
  note(`--pty: standard ${which} is not a terminal; the command runs without one`);
  return undefined;
}

/** The end of a command on the user's screen, and its output for reading later. */
interface ConsoleEnd {
  readonly result: RunResult;
  readonly text: string;
}

/** Runs a command on a terminal that takes the whole screen of the user's. */
export async function runOnTerminal(
  command: string,
  options: CommandOptions,
  ui: TerminalUi,
): Promise<ConsoleEnd> {
  const { result, text, dismissed } = await runInConsole(command, {
    ...options,
    ui,
    endKey: 'Ctrl-]',
  });
  if (dismissed) note('ended by Ctrl-]');
  return { result, text };
}
