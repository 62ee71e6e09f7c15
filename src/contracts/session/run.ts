import { OutputKeeper } from '../../artifacts/keep-output.js';
import { execute, startCommand } from '../../command/execute.js';
import type { Owner } from '../../engine/owner.js';
import type { ExecuteOptions } from '../../options/command-options.js';
import { CommandSubject } from '../../tasks/command-subject.js';
import { performCommand } from '../call.js';
import { TOOL, type ToolCall, type ToolResult } from '../contract.js';
import { ToolAbortError, ToolError } from '../errors.js';
import type { PendingEntry } from '../log-entry.js';
import { CANCELLED } from '../notices.js';
import { type CallMoment, commandOptions, shellEnvironment } from '../options.js';
import { explainLaunch } from '../workdir.js';
import type { Place, SessionDirectory } from './directory.js';
import { endDetails } from './end-details.js';
import type { SessionSettings } from './options.js';
import { streamLimits } from './output.js';
import {
  type CallTimeout,
  type SessionDetails,
  sessionReceipt,
  sessionResult,
  shownStreams,
  startedResult,
} from './result.js';
import type { SessionInput } from './schema.js';
import { runOrGoOn, type StartInPlace } from './tasks/auto-background.js';
import { commandTask } from './tasks/command-task.js';
import { startDetachedTask } from './tasks/detached-task.js';
import type { SessionTasks, StartedTask } from './tasks/session-tasks.js';
import { detailsOfTimeout, timeoutChange, timeoutFor } from './timeout.js';

/** A command for the background. */
interface TaskCommand {
  readonly text: string;
  /** Its environment block. */
  readonly environment: string;
  readonly takesInput: boolean;
}

/** What the calls of a session share. */
export interface Session {
  readonly settings: SessionSettings;
  readonly owner: Owner;
  readonly directory: SessionDirectory;
  readonly tasks: SessionTasks;
}

/**
 * Runs a command to its end, and goes where it has gone.
 *
 * @throws {ToolError} The session's directory cannot be used.
 * @throws {ToolAbortError} It was cancelled.
 * @throws {LaunchError} It could not be started.
 */
export async function runInSession(
  session: Session,
  { command = '', timeout: asked }: SessionInput,
  call: ToolCall<SessionDetails>,
  moment: CallMoment,
): Promise<ToolResult<SessionDetails>> {
  const { settings, directory } = session;
  const timeout = timeoutFor(asked ?? settings.timeoutMs, settings);
  const from = await directory.here();
  const environment = shellEnvironment(from.path, settings, moment);
  const result = await performCommand({ call, cwd: from.path }, (onOutput) => {
    const { signal } = call;
    const options = sessionOptions(session, from, timeout, { signal, onOutput });
    const start: StartInPlace = (own, follower) =>
      inPlace(session, from, () =>
        execute(command, environment, { ...options, ...own, followDirectory: true }, follower),
      );
    return settings.autoBackgroundMs === undefined
      ? start({})
      : runOrGoOn(session, { command, environment, timeout, onOutput }, call, start);
  });
  if ('task' in result) {
    const details = { cwd: directory.path, ...detailsOfTimeout(timeout), task: result.task };
    return startedResult(result.task.id, details, timeoutChange(timeout, settings), result.afterMs);
  }
  const { kind } = result.outcome;
  const endedItself = kind !== 'timedOut' && kind !== 'cancelled';
  if (endedItself) await directory.follow(from, result.directory);
  const lost = endedItself && result.directory === undefined;
  const streams = shownStreams(result, settings.maxCharacters);
  // Others may move the session meanwhile.
  const cwd = directory.path;
  const receipt = await sessionReceipt(result, streams, environment);
  const details = endDetails(cwd, timeout, result, receipt);
  return sessionResult(result, streams, details, [
    timeoutChange(timeout, settings),
    lost ? `The working directory could not be followed; it stays ${directory.path}.` : undefined,
  ]);
}

/**
 * Starts a command and leaves it to itself. It has no time limit unless it asks for one.
 *
 * @throws {ToolError} As many tasks run as may, or the session's directory cannot be used.
 * @throws {LaunchError} It could not be started.
 */
export async function startTask(
  session: Session,
  { command: text = '', timeout: asked, stdin = false }: SessionInput,
  moment: CallMoment,
  entry: PendingEntry | undefined,
): Promise<ToolResult<SessionDetails>> {
  const { settings, directory, tasks } = session;
  const timeout = timeoutFor(asked, settings);
  const { task, ended, detachedPid } = await tasks.begin(async () => {
    const from = await directory.here();
    if (session.owner.isDisposed) throw new ToolAbortError(CANCELLED);
    const environment = shellEnvironment(from.path, settings, moment);
    const command = { text, environment, takesInput: stdin };
    if (settings.taskLifetime !== 'detached') return startAttached(session, from, timeout, command);
    const place = { cwd: from.path, timeoutMs: timeout.milliseconds };
    return inPlace(session, from, () => startDetachedTask({ ...command, ...place }, settings));
  });
  if (detachedPid !== undefined) entry?.ofDetached(detachedPid);
  else entry?.ofReceipt(ended.then(({ receipt }) => receipt));
  const details: SessionDetails = {
    cwd: directory.path,
    ...detailsOfTimeout(timeout),
    task: { id: task.id, status: 'running' },
  };
  return startedResult(task.id, details, timeoutChange(timeout, settings));
}

/** Starts a command that ends with the tool, or with the host. */
async function startAttached(
  session: Session,
  from: Place,
  timeout: CallTimeout,
  { text, environment, takesInput }: TaskCommand,
): Promise<StartedTask> {
  const { settings } = session;
  const lifetime = settings.taskLifetime === 'host' ? 'host' : 'tool';
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  const spill = keeper.spill(0);
  const owner = lifetime === 'host' ? undefined : session.owner;
  const options = { ...sessionOptions(session, from, timeout), spill, owner };
  const subject = new CommandSubject({ takesInput, outputFile: spill?.path });
  try {
    const start = () => startCommand(text, environment, options, subject);
    const { handle, result } = await inPlace(session, from, start);
    return commandTask({ text, environment, subject, handle, result, keeper }, settings, lifetime);
  } catch (error) {
    keeper.abandon();
    throw error;
  }
}

/** Takes the session back to its start when its directory turns out to be gone. */
export async function inPlace<T>(
  session: Session,
  from: Place,
  start: () => Promise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (session.owner.isDisposed) throw new ToolAbortError(CANCELLED, { cause: error });
    const found = await explainLaunch(error, from.path);
    if (!(found instanceof ToolError) || found.kind !== 'directory') throw found;
    const message = session.directory.lose(from, found.message);
    throw new ToolError('directory', message, { cause: error });
  }
}

function sessionOptions(
  { settings, owner }: Session,
  from: Place,
  { milliseconds }: CallTimeout,
  listening?: Pick<ExecuteOptions, 'signal' | 'onOutput'>,
): ExecuteOptions & { readonly streams: 'separate' } {
  const own = { cwd: from.path, timeoutMs: milliseconds, owner, ...listening };
  const limits = streamLimits(settings.maxCharacters);
  return { ...commandOptions(settings, limits, own), streams: 'separate' };
}
