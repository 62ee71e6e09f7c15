import type { BackgroundProcess, Capture, Outcome, SeparateResult } from '../../engine/outcome.js';
import { isEventful, type Receipt } from '../../receipt/receipt.js';
import { signalExitCode } from '../../support/signals.js';
import { firstBytes, formatCount } from '../../support/text.js';
import type { ToolResult } from '../contract.js';
import { CANCELLED, ToolAbortError } from '../errors.js';
import { readableOutput } from '../lossy.js';
import { NO_STATUS, noticesOf, signalNotice, warningOf } from '../notices.js';
import { BY_THE_SHELL, timeoutNotice } from '../timeout-notice.js';
import type { Diagnosis } from './diagnosis.js';
import type { PlainSettings } from './options.js';
import type { PlainOutput, PlainSuccess } from './schema.js';

/** Why the answer is an error. */
export type PlainFailureKind =
  /** The input was wrong; nothing was started. */
  | 'input'
  /** The working directory is not there or cannot be used; nothing was started. */
  | 'directory'
  /** The command could not be started: the fault is the machine's, not the command's. */
  | 'launch'
  /** The command's time was up. */
  | 'timedOut'
  /** The shell did not find the program. */
  | 'notFound'
  /** The shell found the program, and could not execute it. */
  | 'notExecutable'
  /** A signal ended it. */
  | 'signaled'
  /** The command ended without a known status. */
  | 'noStatus';

/** Sizes of one stream. */
export interface StreamDetails {
  /** Bytes that were printed. */
  readonly bytes: number;
  /** Whether a part of the stream is not in the answer. */
  readonly truncated: boolean;
}

/** Details of a `plain` result. */
export interface PlainDetails {
  /** The timeout that applies, in seconds. */
  readonly timeoutSeconds: number;
  /** Present when the answer is an error. */
  readonly failure?: PlainFailureKind;
  /** The command's duration in milliseconds. This and the next fields are absent if it was not started. */
  readonly wallTimeMs?: number;
  /** The size of stdout, and whether it was cut. */
  readonly stdout?: StreamDetails;
  /** The size of stderr, and whether it was cut. */
  readonly stderr?: StreamDetails;
  /** The signal that ended the command. */
  readonly signal?: NodeJS.Signals;
  /** Processes that still run; present when there are any. */
  readonly background?: readonly BackgroundProcess[];
  /** The receipt of the command. */
  readonly receipt?: Receipt;
}

const MORE_TIME = {
  more: 'For more time, start it with `&` and its output in a file, and read the file later.',
  background: BY_THE_SHELL,
};
const SUFFIX = '... (truncated)';

/**
 * Bytes kept of the end of a stream, beyond its limit: they contain the shell's diagnosis, however much was
 * printed before.
 */
export const KEPT_OF_END = 4096;

/** Makes the answer about an error before the command could run. */
export function failedResult(
  failure: PlainFailureKind,
  error: string,
  { timeoutSeconds }: PlainSettings,
): ToolResult<PlainDetails> {
  return answer({ error }, { timeoutSeconds, failure });
}

/** A stream as it is in the answer. */
interface ShownText {
  readonly text: string;
  readonly truncated: boolean;
  /** Lines about how much was cut, and about bytes that are no text; absent when there are none. */
  readonly notice?: string | undefined;
}

/** Both streams as they are in the answer. */
type PlainStreams = Readonly<Record<'stdout' | 'stderr', ShownText>>;

/** Cuts the streams to their limits. */
export function showStreams(result: SeparateResult, settings: PlainSettings): PlainStreams {
  return {
    stdout: showText('stdout', result.stdout, settings.maxStdoutBytes),
    stderr: showText('stderr', result.stderr, settings.maxStderrBytes),
  };
}

/**
 * Makes the answer about a command that ended.
 *
 * @param diagnosis The shell's message, if it printed one.
 * @throws {ToolAbortError} The call was cancelled. The message has the output so far.
 */
export function plainResult(
  result: SeparateResult,
  { stdout, stderr }: PlainStreams,
  receipt: Receipt,
  diagnosis: Diagnosis | undefined,
  { timeoutSeconds }: PlainSettings,
): ToolResult<PlainDetails> {
  const hasNotices = stdout.notice !== undefined || stderr.notice !== undefined;
  const output = {
    stdout: stdout.text,
    stderr: stderr.text,
    ...((hasNotices || isEventful(receipt)) && noticeOn(stdout, stderr, receipt)),
  };
  const details: PlainDetails = {
    timeoutSeconds,
    wallTimeMs: result.durationMs,
    stdout: { bytes: result.stdout.total.bytes, truncated: stdout.truncated },
    stderr: { bytes: result.stderr.total.bytes, truncated: stderr.truncated },
    ...(result.background.length > 0 && { background: result.background }),
    receipt,
  };
  const { outcome } = result;
  switch (outcome.kind) {
    case 'exited':
      return exitedResult({ ...output, exitCode: outcome.exitCode }, diagnosis, details);
    case 'cancelled':
      throw new ToolAbortError(asText({ error: CANCELLED, ...output }, receipt), { details });
    default:
      return unfinished(outcome, output, details);
  }
}

function noticeOn(
  stdout: ShownText,
  stderr: ShownText,
  receipt: Receipt,
): Pick<PlainSuccess, 'notice'> {
  const all = [...warningOf(receipt), ...noticesOf([stdout.notice, stderr.notice], [], receipt)];
  return all.length === 0 ? {} : { notice: all.join('\n') };
}

function exitedResult(
  output: PlainSuccess,
  diagnosis: Diagnosis | undefined,
  details: PlainDetails,
): ToolResult<PlainDetails> {
  if (diagnosis === undefined) return answer(output, details);
  return answer({ error: diagnosis.text, ...output }, { ...details, failure: diagnosis.reason });
}

function unfinished(
  outcome: Exclude<Outcome, { kind: 'exited' | 'cancelled' }>,
  output: Omit<PlainSuccess, 'exitCode'>,
  details: PlainDetails,
): ToolResult<PlainDetails> {
  switch (outcome.kind) {
    case 'timedOut': {
      const error = timeoutNotice(details.timeoutSeconds, outcome.reason, MORE_TIME);
      return answer({ error, ...output }, { ...details, failure: 'timedOut' });
    }
    case 'signaled': {
      const { signal } = outcome;
      // The code that a shell reports for a command of its own, even if there was no shell in between.
      const exitCode = signalExitCode(signal);
      const error = signalNotice(signal);
      return answer({ error, ...output, exitCode }, { ...details, failure: 'signaled', signal });
    }
    case 'unknown':
      return answer({ error: NO_STATUS, ...output }, { ...details, failure: 'noStatus' });
  }
}

/** Makes an answer in all its forms: text for the model, data, details. */
function answer(output: PlainOutput, details: PlainDetails): ToolResult<PlainDetails> {
  return {
    content: [{ type: 'text', text: asText(output, details.receipt) }],
    details,
    structured: { ...output },
    ...('error' in output && { isError: true as const }),
  };
}

/** Writes an answer as JSON; a warning about an incomplete checkout comes first. */
function asText(output: PlainOutput, receipt: Receipt | undefined): string {
  const { notice, ...rest } = output as PlainOutput & { readonly notice?: string };
  const isFirst = notice !== undefined && receipt?.sandbox?.incomplete !== undefined;
  return JSON.stringify(isFirst ? { notice, ...rest } : output);
}

/** Cuts a stream at the end of a character. Text is never shorter than the bytes it was decoded from. */
function showText(name: string, capture: Capture, maxBytes: number): ShownText {
  const kept = capture.kind === 'complete' ? capture.text : capture.head;
  // No UTF-16 unit takes more than three bytes.
  const text = kept.length * 3 <= maxBytes ? kept : firstBytes(kept, maxBytes);
  const truncated = capture.kind === 'cut' || text !== kept;
  const cut = truncated ? cutNotice(name, capture, text) : undefined;
  if (!capture.lossy) {
    return truncated ? { text: text + SUFFIX, truncated, notice: cut } : { text, truncated };
  }
  const readable = readableOutput(text, capture, name, undefined);
  // The line that stands for binary output tells its size.
  const isToldCut = truncated && !readable.isBinary;
  const notices = [isToldCut ? cut : undefined, readable.notice].filter((one) => one !== undefined);
  return {
    text: isToldCut ? readable.text + SUFFIX : readable.text,
    truncated: truncated || readable.isCut,
    ...(notices.length > 0 && { notice: notices.join('\n') }),
  };
}

/** Says how much was cut. Of output that is not all text the shown bytes are not those that were printed. */
function cutNotice(name: string, { total, lossy }: Capture, text: string): string {
  const first = lossy
    ? 'the beginning is'
    : `the first ${formatCount(Buffer.byteLength(text))} are`;
  return `${name} is truncated: it has ${formatCount(total.bytes)} bytes, of which ${first} shown.`;
}
