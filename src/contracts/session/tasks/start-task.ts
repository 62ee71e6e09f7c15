import { OutputKeeper } from '../../../artifacts/keep-output.js';
import { startCommand } from '../../../command/execute.js';
import type { ExecuteOptions } from '../../../options/command-options.js';
import {
  DEFAULT_SIZE,
  overTerminal,
  TERMINAL_DEFAULTS,
  type TerminalSize,
} from '../../../options/terminal.js';
import { CommandSubject } from '../../../tasks/command-subject.js';
import { hostOrder } from '../../../tasks/notify/ledger.js';
import type { Notify } from '../../../tasks/notify/notify.js';
import { TOOL, type ToolResult } from '../../contract.js';
import { CANCELLED, ToolAbortError } from '../../errors.js';
import type { PendingEntry } from '../../log-entry.js';
import { type CallMoment, shellEnvironment } from '../../options.js';
import { notifyOf } from '../../tasks/notify.js';
import type { SessionSettings } from '../options.js';
import {
  type CallTimeout,
  detailsOfTimeout,
  type SessionDetails,
  startedResult,
  timeoutChange,
  timeoutFor,
} from '../result.js';
import type { SessionInput } from '../schema.js';
import { inPlace, type Place, type Session, sessionOptions } from '../session.js';
import { commandTask } from './command-task.js';
import { startDetachedTask } from './detached-task.js';
import type { StartedTask } from './session-tasks.js';

/** A command for the background. */
interface TaskCommand {
  readonly text: string;
  /** The environment block. */
  readonly environment: string;
  readonly takesInput: boolean;
  /** The size of its terminal; undefined: it has pipes. */
  readonly terminal: TerminalSize | undefined;
  /** What is to be told of it besides. */
  readonly notify: Notify | undefined;
}

/**
 * Starts a command in the background, without a time limit unless the call asks for one.
 *
 * @throws {ToolError} The limit of tasks is reached, or the session's directory cannot be used.
 * @throws {LaunchError} The command could not be started.
 */
export async function startTask(
  session: Session,
  input: SessionInput,
  moment: CallMoment,
  entry: PendingEntry | undefined,
): Promise<ToolResult<SessionDetails>> {
  const { command: text = '', timeout: asked, stdin = false, pty = false, notify: told } = input;
  const { settings, directory, tasks } = session;
  const timeout = timeoutFor(asked, settings);
  const notify = notifyOf(told, settings.tasks);
  const { task, ended, detachedPid } = await tasks.begin(async () => {
    const from = await directory.here();
    if (session.owner.isDisposed) throw new ToolAbortError(CANCELLED);
    const environment = pty
      ? terminalEnvironment(from.path, settings, moment)
      : shellEnvironment(from.path, settings, moment);
    const terminal = pty ? DEFAULT_SIZE : undefined;
    const command = { text, environment, takesInput: stdin || pty, terminal, notify };
    if (settings.taskLifetime !== 'detached') return startAttached(session, from, timeout, command);
    const place = { cwd: from.path, timeoutMs: timeout.milliseconds };
    return inPlace(session, from, () => startDetachedTask({ ...command, ...place }, settings));
  });
  if (pty) task.answerTerminal();
  if (detachedPid !== undefined) entry?.ofDetached(detachedPid);
  else entry?.ofReceipt(ended.then(({ receipt }) => receipt));
  const details: SessionDetails = {
    cwd: directory.path,
    ...detailsOfTimeout(timeout),
    task: { id: task.id, status: 'running' },
  };
  return startedResult(task.id, details, timeoutChange(timeout, settings), undefined, pty);
}

/** Makes the environment of a command on a terminal, where programs may ask, page and draw. */
function terminalEnvironment(cwd: string, settings: SessionSettings, moment: CallMoment): string {
  const onTerminal = { ...settings, defaults: TERMINAL_DEFAULTS };
  return shellEnvironment(cwd, onTerminal, moment, overTerminal(settings.env));
}

/** Starts a command that ends with the tool, or with the host. */
async function startAttached(
  session: Session,
  from: Place,
  timeout: CallTimeout,
  { text, environment, takesInput, terminal, notify }: TaskCommand,
): Promise<StartedTask> {
  const { settings } = session;
  const lifetime = settings.taskLifetime === 'host' ? 'host' : 'tool';
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  const spill = keeper.spill(0);
  const owner = lifetime === 'host' ? undefined : session.owner;
  const onPipes = { ...sessionOptions(session, from, timeout), spill, owner };
  const options: ExecuteOptions = terminal
    ? { ...onPipes, streams: 'merged', encoding: undefined, pty: terminal }
    : onPipes;
  const { encoding } = options;
  const subject = new CommandSubject({ takesInput, terminal, outputFile: spill?.path, encoding });
  try {
    const start = () => startCommand(text, environment, options, subject);
    const { handle, result } = await inPlace(session, from, start);
    const running = { text, environment, subject, handle, result, keeper };
    const started = commandTask(running, settings, lifetime);
    if (notify === undefined) return started;
    return { ...started, work: { ...started.work, watches: hostOrder(notify) } };
  } catch (error) {
    keeper.abandon();
    throw error;
  }
}
