import { execute } from '../../command/execute.js';
import { performCommand } from '../call.js';
import type { ToolCall, ToolResult } from '../contract.js';
import { type CallMoment, shellEnvironment } from '../options.js';
import {
  detailsOfTimeout,
  endDetails,
  type SessionDetails,
  sessionReceipt,
  sessionResult,
  shownStreams,
  startedResult,
  timeoutChange,
  timeoutFor,
} from './result.js';
import type { SessionInput } from './schema.js';
import { inPlace, type Session, sessionOptions } from './session.js';
import { runOrGoOn, type StartInPlace } from './tasks/auto-background.js';

/**
 * Runs a command to its end, and moves the session to the directory where it has ended.
 *
 * @throws {ToolError} The session's directory cannot be used.
 * @throws {ToolAbortError} The call was cancelled.
 * @throws {LaunchError} The command could not be started.
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
    return startedResult(result.task.id, details, timeoutChange(timeout, settings), result);
  }
  const { kind } = result.outcome;
  const endedItself = kind !== 'timedOut' && kind !== 'cancelled';
  if (endedItself) await directory.follow(from, result.directory);
  const lost = endedItself && result.directory === undefined;
  const streams = shownStreams(result, settings.maxCharacters);
  // Read now, since other calls may move the session during the next wait.
  const cwd = directory.path;
  const receipt = await sessionReceipt(result, streams, environment);
  const details = endDetails(cwd, timeout, result, receipt);
  return sessionResult(result, streams, details, [
    timeoutChange(timeout, settings),
    lost ? `The working directory could not be followed; it stays ${directory.path}.` : undefined,
  ]);
}
