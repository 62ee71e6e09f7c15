import type { BackgroundProcess, Outcome, RunResult } from '../../engine/outcome.js';
import { makeReceipt, type Receipt } from '../../receipt/receipt.js';
import { showValue } from '../../support/errors.js';
import { newestOf } from '../../support/text.js';
import type { ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import {
  CANCELLED,
  exitNotice,
  NO_STATUS,
  noticesOf,
  outputText,
  signalNotice,
  timeoutNotice,
} from '../notices.js';
import { NOTHING_SHOWN, type ShownStream, showStream } from './output.js';

/** How a task in the background stands. */
export type TaskStatus = 'running' | 'completed';

/** The timeout of a call, in milliseconds; undefined: it may take as long as it wants. */
export interface CallTimeout {
  readonly milliseconds: number | undefined;
  /** What was asked for; present only when it is not what applies. */
  readonly requested?: number;
}

/** Details of an answer of the `session` contract's `bash`. */
export interface SessionDetails {
  /** Where the next command will start. */
  cwd: string;
  /** The timeout that applies, in milliseconds; absent when there is none. */
  timeoutMs?: number;
  /** The timeout that was asked for, when it was another one. */
  requestedTimeoutMs?: number;
  /** How long the command took, in milliseconds; absent while it runs in the background. */
  durationMs?: number;
  /** How the command ended; absent while it runs in the background. */
  outcome?: Outcome;
  /** Processes that still run; present when there are any. */
  background?: readonly BackgroundProcess[];
  /** All that is known of the command; absent while it runs in the background. */
  receipt?: Receipt;
  /** The task that a command in the background is. */
  task?: { readonly id: string; readonly status: TaskStatus };
}

/** Details of an answer of `task_output`. */
export interface TaskDetails {
  taskId: string;
  /** Undefined: there is no such task. */
  status: TaskStatus | undefined;
  /** How the command ended; absent while it runs. */
  outcome?: Outcome;
  durationMs?: number;
  background?: readonly BackgroundProcess[];
  receipt?: Receipt;
}

/** Both streams as they are shown. */
interface ShownStreams {
  readonly stdout: ShownStream;
  readonly stderr: ShownStream;
}

const NO_STREAMS: ShownStreams = { stdout: NOTHING_SHOWN, stderr: NOTHING_SHOWN };

/** The streams of a result with stdout and stderr apart. */
export function shownStreams(result: RunResult, maxCharacters: number): ShownStreams {
  if (!('stdout' in result)) throw new TypeError('expected the streams to be separate');
  return {
    stdout: showStream('stdout', result.stdout, maxCharacters),
    stderr: showStream('stderr', result.stderr, maxCharacters),
  };
}

/**
 * The receipt of a command with these streams.
 *
 * @param environment Its environment block.
 */
export function sessionReceipt(
  result: RunResult,
  { stdout, stderr }: ShownStreams,
  environment: string,
): Receipt | Promise<Receipt> {
  return makeReceipt(result, { environment, cut: { stdout: stdout.isCut, stderr: stderr.isCut } });
}

/**
 * The answer to a command that ended.
 *
 * @param notices What else there is to say.
 * @throws {ToolAbortError} It was cancelled.
 */
export function sessionResult(
  result: RunResult,
  streams: ShownStreams,
  details: SessionDetails & { readonly receipt: Receipt },
  notices: readonly (string | undefined)[],
): ToolResult<SessionDetails> {
  const given = noticesOf(lossyNotices(streams), notices, details.receipt);
  const text = reportText(streams, result.outcome, given);
  if (result.outcome.kind === 'cancelled') throw new ToolAbortError(text, { details });
  const structured = {
    ...structuredStreams(streams),
    ...structuredEnd(result.outcome),
    ...structuredNotices([...given, ...limitNotices(result.outcome)]),
    cwd: details.cwd,
    status: 'completed',
  };
  return { content: [{ type: 'text', text }], details, structured };
}

/** The answer to a command that goes on in the background. */
export function startedResult(
  taskId: string,
  details: SessionDetails,
  notice: string | undefined,
): ToolResult<SessionDetails> {
  const started =
    `Started in the background with task_id: ${taskId}\n` +
    `For its output, call task_output with {"task_id": "${taskId}"}.`;
  const structured = {
    ...structuredStreams(NO_STREAMS),
    exit_code: null,
    timed_out: false,
    ...structuredNotices(notice === undefined ? [] : [notice]),
    cwd: details.cwd,
    task_id: taskId,
    status: 'running',
  };
  const text = sections([started, notice ?? '']);
  return { content: [{ type: 'text', text }], details, structured };
}

/** The answer about a task that runs. */
export function runningTaskResult(taskId: string, streams: ShownStreams): ToolResult<TaskDetails> {
  const notices = lossyNotices(streams);
  const text = sections([
    taskLines(taskId, 'running'),
    streamsText(streams, 'running'),
    notices.join('\n'),
  ]);
  return {
    content: [{ type: 'text', text }],
    details: { taskId, status: 'running' },
    structured: {
      task_id: taskId,
      status: 'running',
      ...structuredStreams(streams),
      exit_code: null,
      timed_out: false,
      ...structuredNotices(notices),
    },
  };
}

/** The answer about a task that has ended. */
export function completedTaskResult(
  taskId: string,
  result: RunResult,
  streams: ShownStreams,
  receipt: Receipt,
): ToolResult<TaskDetails> {
  const { outcome, durationMs, background } = result;
  const notices = noticesOf(lossyNotices(streams), [], receipt);
  const report = reportText(streams, outcome, notices);
  const text = sections([taskLines(taskId, 'completed'), report]);
  return {
    content: [{ type: 'text', text }],
    details: {
      taskId,
      status: 'completed',
      outcome,
      durationMs,
      ...(background.length > 0 && { background }),
      receipt,
    },
    structured: {
      task_id: taskId,
      status: 'completed',
      ...structuredStreams(streams),
      ...structuredEnd(outcome),
      ...structuredNotices([...notices, ...limitNotices(outcome)]),
    },
  };
}

/** The answer about a task that nobody knows. */
export function unknownTaskResult(
  taskId: string,
  known: readonly string[],
): ToolResult<TaskDetails> {
  const which = known.length === 0 ? 'There are no tasks.' : `Known tasks: ${newestOf(known)}.`;
  const text = `Task not found: ${shownId(taskId)}. ${which} A task that has been returned as completed is forgotten.`;
  const details = { taskId, status: undefined };
  return { content: [{ type: 'text', text }], details, isError: true };
}

/** Whatever a model has made up stays on its line. */
function shownId(taskId: string): string {
  return /^\w{1,80}$/.test(taskId) ? taskId : showValue(taskId);
}

function taskLines(taskId: string, status: TaskStatus): string {
  return `task_id: ${taskId}\nstatus: ${status}`;
}

function reportText(streams: ShownStreams, outcome: Outcome, notices: readonly string[]): string {
  return sections([streamsText(streams), notices.join('\n'), endingText(outcome)]);
}

function lossyNotices({ stdout, stderr }: ShownStreams): readonly string[] {
  return [stdout.lossy, stderr.lossy].filter((one) => one !== undefined);
}

function streamsText({ stdout, stderr }: ShownStreams, state?: 'running'): string {
  const text = sections([stdout.text, stderr.text === '' ? '' : `stderr:\n${stderr.text}`]);
  return outputText(text, state);
}

/** Those that are not empty, one blank line between them, whatever newlines they end in. */
function sections(texts: readonly string[]): string {
  const trimmed = texts.map((text) => text.replace(/(?<!\n)\n+$/, ''));
  return trimmed.filter((text) => text !== '').join('\n\n');
}

function endingText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return outcome.exitCode === 0 ? '' : exitNotice(outcome.exitCode);
    case 'signaled':
      return signalNotice(outcome.signal);
    case 'timedOut':
      return timeoutNotice(outcome.timeoutMs / 1000, timeoutAdvice(outcome.forced));
    case 'cancelled':
      return CANCELLED;
    case 'unknown':
      return NO_STATUS;
  }
}

function timeoutAdvice(forced: boolean): string {
  const how = forced ? ', with SIGKILL since it did not end by SIGTERM' : '';
  return (
    `It was killed${how}. For more time, pass a larger \`timeout\`, or ` +
    '`run_in_background: true` without one.'
  );
}

function structuredStreams({ stdout, stderr }: ShownStreams) {
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_characters: stdout.characters,
    stderr_characters: stderr.characters,
  };
}

/** Some clients show a model the structured answer alone. */
function structuredNotices(notices: readonly string[]) {
  return notices.length > 0 ? { notices } : {};
}

/** Which limit it was, the fields do not say. */
function limitNotices(outcome: Outcome): readonly string[] {
  return outcome.kind === 'timedOut' ? [endingText(outcome)] : [];
}

function structuredEnd(outcome: Outcome) {
  const ended = 'ending' in outcome ? outcome.ending : outcome;
  return {
    exit_code: ended.kind === 'exited' ? ended.exitCode : null,
    timed_out: outcome.kind === 'timedOut',
    ...(ended.kind === 'signaled' && { signal: ended.signal }),
  };
}
