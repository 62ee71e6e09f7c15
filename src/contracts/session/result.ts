import type { KeptOutput } from '../../artifacts/keep-output.js';
import type { BackgroundProcess, Outcome, RunResult } from '../../engine/outcome.js';
import {
  makeReceipt,
  type Receipt,
  type ReceiptContext,
  type ReceiptSource,
} from '../../receipt/receipt.js';
import { keptFile } from '../call.js';
import type { ToolResult } from '../contract.js';
import { CANCELLED, ToolAbortError } from '../errors.js';
import {
  afterWarning,
  exitNotice,
  formatSeconds,
  NO_STATUS,
  noticesOf,
  outputText,
  signalNotice,
  warningOf,
} from '../notices.js';
import { timeoutNotice } from '../timeout-notice.js';
import type { SessionSettings } from './options.js';
import { NOTHING_SHOWN, type ShownStream, showStream } from './output.js';

/** The timeout of a call, in milliseconds; undefined: there is no limit. */
export interface CallTimeout {
  readonly milliseconds: number | undefined;
  /** The timeout that was asked for; present only when another one applies. */
  readonly requested?: number;
}

/** Brings the timeout that a call asks for, if it asks for one, below the limit. */
export function timeoutFor(
  asked: number | undefined,
  { maxTimeoutMs }: Pick<SessionSettings, 'maxTimeoutMs'>,
): CallTimeout {
  if (asked === undefined || asked <= maxTimeoutMs) return { milliseconds: asked };
  return { milliseconds: maxTimeoutMs, requested: asked };
}

/** Says that another timeout applies than the one that was asked for. */
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
  /** The receipt of the command; absent while it runs in the background. */
  receipt?: Receipt;
  /** The task of a command in the background. */
  task?: { readonly id: string; readonly status: 'running' | 'completed' };
}

/** The fields of the details about the timeout. */
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
 * Makes the details of a command that ended.
 *
 * @param cwd The directory where the next one will start.
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

/** Shows both streams of a result. */
export function shownStreams(result: ReceiptSource, maxCharacters: number): ShownStreams {
  if (!('stdout' in result)) throw new TypeError('expected the streams to be separate');
  return {
    stdout: showStream('stdout', result.stdout, maxCharacters),
    stderr: showStream('stderr', result.stderr, maxCharacters),
  };
}

/**
 * Makes the receipt of a command with these streams.
 *
 * @param environment The environment block of the command.
 * @param known Further facts about the command.
 * @param kept The kept output of a task. Its id is left out: a model of this contract knows only files.
 */
export function sessionReceipt(
  result: ReceiptSource,
  { stdout, stderr }: ShownStreams,
  environment: string,
  known: Pick<ReceiptContext, 'troubles' | 'hasPipefail'> = {},
  kept: KeptOutput = { kind: 'none' },
): Receipt | Promise<Receipt> {
  const cut = { stdout: stdout.isCut, stderr: stderr.isCut };
  return makeReceipt(result, { environment, cut, ...known, kept: keptFile(kept) });
}

/**
 * Makes the answer about a command that ended.
 *
 * @param notices Further lines.
 * @param spared The process group of the shell, which must not be ended together with what runs in it.
 * @throws {ToolAbortError} The call was cancelled.
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

/** The output of a command that has gone on in the background by itself. */
interface OutputSoFar {
  /** The time that it has run, in milliseconds. */
  readonly afterMs: number;
  /** The end of its output. */
  readonly streams: ShownStreams;
  /** One line about the output before that. */
  readonly skipped: string | undefined;
}

/**
 * Makes the answer about a command that runs in the background.
 *
 * @param wentOn If it was not started in the background: how long it has run, and its output so far.
 * @param hasTerminal Whether it has a terminal, which is blank until it has drawn there.
 */
export function startedResult(
  taskId: string,
  details: SessionDetails,
  notice: string | undefined,
  wentOn?: OutputSoFar,
  hasTerminal = false,
): ToolResult<SessionDetails> {
  const { streams = NO_STREAMS, skipped } = wentOn ?? {};
  const how =
    wentOn === undefined
      ? 'Started in the background with'
      : `Still running after ${formatSeconds(wentOn.afterMs / 1000)}; it goes on in the background with`;
  const started =
    `${how} task_id: ${taskId}\n` +
    (hasTerminal
      ? `For its screen, call task_output with {"task_id": "${taskId}", "silent": 0.5}.`
      : `For its output, call task_output with {"task_id": "${taskId}"}.`);
  const structured = {
    ...structuredStreams(streams),
    exit_code: null,
    timed_out: false,
    ...structuredNotices([skipped, notice].filter((one) => one !== undefined)),
    cwd: details.cwd,
    task_id: taskId,
    status: 'running',
  };
  const hasPrinted = streams.stdout.text + streams.stderr.text !== '';
  const soFar = hasPrinted ? streamsText(streams, 'running') : '';
  const text = sections([skipped ?? '', soFar, started, notice ?? '']);
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

/** Joins texts that are not empty, with exactly one blank line between them. */
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
      return timeoutNotice(
        outcome.timeoutMs / 1000,
        outcome.reason,
        MORE_TIME,
        `It was killed${outcome.forced ? ', with SIGKILL since it did not end by SIGTERM' : ''}.`,
      );
    case 'cancelled':
      return CANCELLED;
    case 'unknown':
      return NO_STATUS;
  }
}

const MORE_TIME = {
  more: 'For more time, pass a larger `timeout`, or `run_in_background: true` without one.',
  background: 'with `run_in_background: true`',
};

export function structuredStreams({ stdout, stderr }: ShownStreams) {
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_characters: stdout.characters,
    stderr_characters: stderr.characters,
  };
}

/** The notices as data, since some clients show a model only the structured answer. */
export function structuredNotices(notices: readonly string[]) {
  return notices.length > 0 ? { notices } : {};
}

/** Says which time limit was exceeded, which no other field does. */
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
