import { requested, startCommand } from '../command/execute.js';
import { checkExecuteOptions, checkLiveOptions } from '../command/options.js';
import { COMMAND_OPTION_NAMES, type CommandOptions, commandEnvironment } from '../command/run.js';
import { terminalSize } from '../command/terminal.js';
import type { RunResult } from '../engine/outcome.js';
import { textOf } from '../receipt/capture-text.js';
import { receiptOf } from '../receipt/receipt.js';
import { throwIfAborted } from '../support/abort.js';
import { checkString, type OptionNames, readOptions } from '../support/checks.js';
import { CommandSubject } from './command-subject.js';
import { taskLabel } from './label.js';
import { type TaskEnd, taskResult } from './status.js';
import type { TaskWork } from './task.js';

/** How a command is started that is followed: `owner` and `signal` say until when it may run. */
export type TaskOptions = Omit<CommandOptions, 'onOutput' | 'input'> & {
  /** 'pipe': `write()` feeds it. Default: 'null'. Not with `pty`, where `write()` always works. */
  readonly stdin?: 'null' | 'pipe' | undefined;
  /** What it is called in lists. Default: the command, in short. */
  readonly label?: string | undefined;
};

const { onOutput: _output, input: _input, ...SHARED_NAMES } = COMMAND_OPTION_NAMES;
const NAMES: OptionNames<TaskOptions> = { ...SHARED_NAMES, stdin: true, label: true };
const MISTAKES = {
  onOutput: 'a task is followed by read(), wait() and onEvent',
  input: "start it with stdin: 'pipe', and write()",
};

/**
 * Starts a command as a task.
 *
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} It could not be started.
 */
export async function startWork(command: string, given: TaskOptions): Promise<TaskWork> {
  const { stdin, label, ...options } = readOptions('options', given, NAMES, {
    mistakes: MISTAKES,
  });
  checkExecuteOptions(command, options);
  checkLiveOptions({ ...options, stdin });
  checkString('label', label);
  const environment = commandEnvironment(options);
  if (options.signal) throwIfAborted(options.signal);
  const subject = new CommandSubject({
    takesInput: stdin === 'pipe' || options.pty !== undefined,
    terminal: options.pty === undefined ? undefined : terminalSize(options.pty),
    outputFile: requested(command, options).spillPath,
  });
  const { handle, result } = await startCommand(command, environment, options, subject);
  return {
    label: label ?? taskLabel(command),
    subject,
    ended: result.then((end) => concluded(subject, end)),
    tail: () => '',
    cancel: () => handle.cancel(),
    lifetime: options.owner === undefined ? 'host' : 'tool',
  };
}

async function concluded(subject: CommandSubject, end: RunResult): Promise<TaskEnd> {
  subject.conclude(await receiptOf(end));
  const captures = 'output' in end ? [end.output] : [end.stdout, end.stderr];
  const result = taskResult(end.outcome);
  return { result, text: captures.map(textOf).join(''), kept: end.spill?.path };
}
