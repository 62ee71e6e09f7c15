import { checkShellText } from '../command/command-line.js';
import { requested, startCommand } from '../command/execute.js';
import { commandEnvironment } from '../command/run.js';
import type { RunResult } from '../engine/outcome.js';
import { checkOptions } from '../options/check.js';
import { namesOf, type OptionsOf } from '../options/roads.js';
import { terminalSize } from '../options/terminal.js';
import { checkLiveOptions } from '../options/values.js';
import { textOf } from '../receipt/capture-text.js';
import { receiptOf } from '../receipt/receipt.js';
import { throwIfAborted } from '../support/abort.js';
import { checkString, isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { CommandSubject } from './command-subject.js';
import { taskLabel } from './label.js';
import { hostOrder } from './notify/ledger.js';
import { checkHeard, checkNotify, type Notify } from './notify/notify.js';
import { type TaskEnd, taskResult } from './status.js';
import type { TaskWork } from './task.js';

/** Options of a task. `owner` and `signal` limit how long it may run. */
export type TaskOptions = OptionsOf<'task'> & {
  /**
   * With 'pipe', `write()` feeds its stdin. Default: 'null'. Not with `pty`, where `write()` always
   * works.
   */
  readonly stdin?: 'null' | 'pipe' | undefined;
  /** The task's label in lists. Default: the command, shortened. */
  readonly label?: string | undefined;
  /** What the manager's `onEvent` is told of it besides, each once, with `watch`. Default: nothing. */
  readonly notify?: Notify | undefined;
};

const NAMES: OptionNames<TaskOptions> = {
  ...namesOf('task'),
  stdin: true,
  label: true,
  notify: true,
};
const MISTAKES = {
  onOutput: 'follow the task by read(), wait() or onEvent',
  input: "start it with stdin: 'pipe', and write()",
  followDirectory: 'a task has no directory that is told; print it by the command',
  onDenied: 'look at the denials of its receipt, and start it again yourself',
};

/**
 * Starts a command as a task.
 *
 * @param isHeard Whether the manager has a listener to events.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started.
 */
export async function startWork(
  command: string,
  given: TaskOptions,
  isHeard: boolean,
): Promise<TaskWork> {
  const {
    stdin,
    label,
    notify: asked,
    ...options
  } = readOptions('options', given, NAMES, {
    mistakes: MISTAKES,
  });
  checkShellText(command);
  checkOptions(options);
  checkLiveOptions({ ...options, stdin });
  checkString('label', label);
  const notify = isMissing(asked) ? undefined : checkNotify(asked);
  if (notify !== undefined) checkHeard(isHeard);
  const environment = commandEnvironment(options);
  if (options.signal) throwIfAborted(options.signal);
  const subject = new CommandSubject({
    takesInput: stdin === 'pipe' || options.pty !== undefined,
    terminal: options.pty === undefined ? undefined : terminalSize(options.pty),
    outputFile: requested(command, options).spillPath,
    encoding: options.encoding,
  });
  const { handle, result } = await startCommand(command, environment, options, subject);
  return {
    label: label ?? taskLabel(command),
    subject,
    ended: result.then((end) => concluded(subject, end)),
    tail: () => '',
    cancel: () => handle.cancel(),
    lifetime: options.owner === undefined ? 'host' : 'tool',
    watches: notify && hostOrder(notify),
  };
}

async function concluded(subject: CommandSubject, end: RunResult): Promise<TaskEnd> {
  subject.conclude(await receiptOf(end));
  const captures = 'output' in end ? [end.output] : [end.stdout, end.stderr];
  const result = taskResult(end.outcome);
  return { result, text: captures.map(textOf).join(''), kept: end.spill?.path };
}
