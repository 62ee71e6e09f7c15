import type { KeptOutput } from '../../artifacts/keep-output.js';
import type { BackgroundProcess, Outcome, RunResult } from '../../engine/outcome.js';
import {
  makeReceipt,
  type Receipt,
  type ReceiptContext,
  type ReceiptSource,
} from '../../receipt/receipt.js';
import type { ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import {
  afterWarning,
  CANCELLED,
  exitNotice,
  formatSeconds,
  NO_STATUS,
  noticesOf,
  outputText,
  signalNotice,
  timeoutNotice,
  warningOf,
} from '../notices.js';
import type { SessionSettings } from './options.js';
import { NOTHING_SHOWN, type ShownStream, showStream } from './output.js';

/** The timeout of a call, in milliseconds; undefined: it may take as long as it wants. */
export interface CallTimeout {
  readonly milliseconds: number | undefined;
  /** What was asked for; present only when it is not what applies. */
  readonly requested?: number;
}

/** The timeout of a call that asks for this one, if it does. */
export function timeoutFor(
  asked: number | undefined,
  { maxTimeoutMs }: Pick<SessionSettings, 'maxTimeoutMs'>,
): CallTimeout {
  if (asked === undefined || asked <= maxTimeoutMs) return { milliseconds: asked };
  return { milliseconds: maxTimeoutMs, requested: asked };
}

/** What is said of a timeout that is not the one that was asked for. */
export function timeoutChange(
  timeout: CallTimeout,
  { maxTimeoutMs }: Pick<SessionSettings, 'maxTimeoutMs'>,
): string | undefined {
  if (timeout.requested === undefined) return undefined;
  return (
    `Timeout clamped to ${timeout.milliseconds} ms ` +
    `(requested ${timeout.requested} ms; at most ${maxTimeoutMs} ms).`
  );
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
  task?: { readonly id: string; readonly status: 'running' | 'completed' };
}

/** What the details have of it. */
export function detailsOfTimeout({
  milliseconds,
  requested,
}: CallTimeout): Pick<SessionDetails, 'timeoutMs' | 'requestedTimeoutMs'> {
  return {
    ...(milliseconds !== undefined && { timeoutMs: milliseconds }),
    ...(requested !== undefined && { requestedTimeoutMs: requested }),
  };
}

/**
 * What details say of a command that ended.
 *
 * @param cwd Where the next one will start.
 */
export function endDetails(
  cwd: string,
  timeout: CallTimeout,
  { durationMs, outcome, background }: Pick<RunResult, 'durationMs' | 'outcome' | 'background'>,
  receipt: Receipt,
): SessionDetails & { readonly receipt: Receipt } {
  return {
    cwd,
    ...detailsOfTimeout(timeout),
    durationMs,
    outcome,
    ...(background.length > 0 && { background }),
    receipt,
  };
}

/** Both streams as they are shown. */
export interface ShownStreams {
  readonly stdout: ShownStream;
  readonly stderr: ShownStream;
}

const NO_STREAMS: ShownStreams = { stdout: NOTHING_SHOWN, stderr: NOTHING_SHOWN };

/** The streams of a result with stdout and stderr apart. */
export function shownStreams(result: ReceiptSource, maxCharacters: number): ShownStreams {
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
 * @param kept Of a task: a model of this contract knows files, not artifacts.
 * @param known What else is known of it.
 */
export function sessionReceipt(
  result: ReceiptSource,
  { stdout, stderr }: ShownStreams,
  environment: string,
  known: Pick<ReceiptContext, 'troubles' | 'hasPipefail'> = {},
  kept: KeptOutput = { kind: 'none' },
): Receipt | Promise<Receipt> {
  const cut = { stdout: stdout.isCut, stderr: stderr.isCut };
  const context = { environment, cut, ...known };
  if (kept.kind !== 'kept') return makeReceipt(result, { ...context, kept: undefined });
  const { artifact, bytes, missing } = kept;
  return makeReceipt(result, { ...context, kept: { path: artifact.path, bytes, missing } });
}

/**
 * The answer to a command that ended.
 *
 * @param notices What else there is to say.
 * @param spared A process group that must not be ended with what runs in it: its shell's.
 * @throws {ToolAbortError} It was cancelled.
 */
export function sessionResult(
  result: Pick<RunResult, 'outcome'>,
  streams: ShownStreams,
  details: SessionDetails & { readonly receipt: Receipt },
  notices: readonly (string | undefined)[],
  spared?: number,
): ToolResult<SessionDetails> {
  const given = noticesOf(lossyNotices(streams), notices, details.receipt, spared);
  const { receipt } = details;
  const text = afterWarning(receipt, reportText(streamsText(streams), result.outcome, given));
  if (result.outcome.kind === 'cancelled') throw new ToolAbortError(text, { details });
  const structured = {
    ...structuredStreams(streams),
    ...structuredEnd(result.outcome),
    ...structuredNotices([...warningOf(receipt), ...given, ...limitNotices(result.outcome)]),
    cwd: details.cwd,
    status: 'completed',
  };
  return { content: [{ type: 'text', text }], details, structured };
}

/**
 * The answer to a command that goes on in the background.
 *
 * @param afterMs How long it has run, when it was not started there.
 */
export function startedResult(
  taskId: string,
  details: SessionDetails,
  notice: string | undefined,
  afterMs?: number,
): ToolResult<SessionDetails> {
  const how =
    afterMs === undefined
      ? 'Started in the background with'
      : `Still running after ${formatSeconds(afterMs / 1000)}; it goes on in the background with`;
  const started =
    `${how} task_id: ${taskId}\n` +
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

export function reportText(shown: string, outcome: Outcome, notices: readonly string[]): string {
  return sections([shown, notices.join('\n'), endingText(outcome)]);
}

export function lossyNotices({ stdout, stderr }: ShownStreams): readonly string[] {
  return [stdout.lossy, stderr.lossy].filter((one) => one !== undefined);
}

export function streamsText({ stdout, stderr }: ShownStreams, state?: 'running'): string {
  const text = sections([stdout.text, stderr.text === '' ? '' : `stderr:\n${stderr.text}`]);
  return outputText(text, state);
}

/** Those that are not empty, one blank line between them, whatever newlines they end in. */
export function sections(texts: readonly string[]): string {
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

export function structuredStreams({ stdout, stderr }: ShownStreams) {
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_characters: stdout.characters,
    stderr_characters: stderr.characters,
  };
}

/** Some clients show a model the structured answer alone. */
export function structuredNotices(notices: readonly string[]) {
  return notices.length > 0 ? { notices } : {};
}

/** Which limit it was, the fields do not say. */
export function limitNotices(outcome: Outcome): readonly string[] {
  return outcome.kind === 'timedOut' ? [endingText(outcome)] : [];
}

export function structuredEnd(outcome: Outcome) {
  const ended = 'ending' in outcome ? outcome.ending : outcome;
  return {
    exit_code: ended.kind === 'exited' ? ended.exitCode : null,
    timed_out: outcome.kind === 'timedOut',
    ...(ended.kind === 'signaled' && { signal: ended.signal }),
  };
}
