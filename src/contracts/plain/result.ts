import type { BackgroundProcess, Capture, Outcome, SeparateResult } from '../../engine/outcome.js';
import { isEventful, type Receipt } from '../../receipt/receipt.js';
import { signalExitCode } from '../../support/signals.js';
import { firstBytes } from '../../support/text.js';
import type { ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import { readableOutput } from '../lossy.js';
import {
  CANCELLED,
  NO_STATUS,
  noticesOf,
  signalNotice,
  timeoutNotice,
  warningOf,
} from '../notices.js';
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
  /** Its time was up. */
  | 'timedOut'
  /** The shell did not find the program. */
  | 'notFound'
  /** The shell found the program, and could not execute it. */
  | 'notExecutable'
  /** A signal ended it. */
  | 'signaled'
  /** How it ended is not known. */
  | 'noStatus';

/** Sizes of one stream. */
export interface StreamDetails {
  /** Everything that was printed. */
  readonly bytes: number;
  /** Not all of it is in the answer. */
  readonly truncated: boolean;
}

/** Details of a `plain` result. */
export interface PlainDetails {
  /** The timeout that applies, in seconds. */
  readonly timeoutSeconds: number;
  /** Present when the answer is an error. */
  readonly failure?: PlainFailureKind;
  /** How long the command took, in milliseconds; this and what follows: when it was started. */
  readonly wallTimeMs?: number;
  /** How much came on stdout, and how much of it is shown. */
  readonly stdout?: StreamDetails;
  /** The same of stderr. */
  readonly stderr?: StreamDetails;
  /** What ended it. */
  readonly signal?: NodeJS.Signals;
  /** Processes that still run; present when there are any. */
  readonly background?: readonly BackgroundProcess[];
  /** All that is known of the command. */
  readonly receipt?: Receipt;
}

const TIMEOUT_ADVICE =
  'For what takes longer, start it with `&` and its output in a file, and look there later.';
const SUFFIX = '... (truncated)';

/**
 * What is kept of the end of a stream, beyond its limit: the shell's diagnosis is there, however
 * much was printed before it.
 */
export const KEPT_OF_END = 4096;

/** The contract's answer to an error before the command could run. */
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
  /** One line about what of it is no text; absent when all is. */
  readonly notice?: string;
}

/** Both streams as they are in the answer. */
type ShownStreams = Readonly<Record<'stdout' | 'stderr', ShownText>>;

/** What of the streams is in the answer. */
export function showStreams(result: SeparateResult, settings: PlainSettings): ShownStreams {
  return {
    stdout: showText('stdout', result.stdout, settings.maxStdoutBytes),
    stderr: showText('stderr', result.stderr, settings.maxStderrBytes),
  };
}

/**
 * The contract's answer to a command that ended.
 *
 * @param diagnosis The shell's, if it gave one.
 * @throws {ToolAbortError} It was cancelled. The message has the output so far.
 */
export function plainResult(
  result: SeparateResult,
  { stdout, stderr }: ShownStreams,
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
      const error = timeoutNotice(details.timeoutSeconds, TIMEOUT_ADVICE);
      return answer({ error, ...output }, { ...details, failure: 'timedOut' });
    }
    case 'signaled': {
      const { signal } = outcome;
      // As a shell tells it of a command of its own, whether or not one stood in between here.
      const exitCode = signalExitCode(signal);
      const error = signalNotice(signal);
      return answer({ error, ...output, exitCode }, { ...details, failure: 'signaled', signal });
    }
    case 'unknown':
      return answer({ error: NO_STATUS, ...output }, { ...details, failure: 'noStatus' });
  }
}

/** An answer in all its forms: for the model, as data, with details. */
function answer(output: PlainOutput, details: PlainDetails): ToolResult<PlainDetails> {
  return {
    content: [{ type: 'text', text: asText(output, details.receipt) }],
    details,
    structured: { ...output },
    ...('error' in output && { isError: true as const }),
  };
}

/** Who reads it as text is to read a warning first. */
function asText(output: PlainOutput, receipt: Receipt | undefined): string {
  const { notice, ...rest } = output as PlainOutput & { readonly notice?: string };
  const isFirst = notice !== undefined && receipt?.sandbox?.incomplete !== undefined;
  return JSON.stringify(isFirst ? { notice, ...rest } : output);
}

/** Cut at the end of a character. Text is never shorter than the bytes that it stands for. */
function showText(name: string, capture: Capture, maxBytes: number): ShownText {
  const kept = capture.kind === 'complete' ? capture.text : capture.head;
  // No UTF-16 unit takes more than three bytes.
  const text = kept.length * 3 <= maxBytes ? kept : firstBytes(kept, maxBytes);
  const truncated = capture.kind === 'cut' || text !== kept;
  const shown = truncated ? text + SUFFIX : text;
  if (!capture.lossy) return { text: shown, truncated };
  const { text: readable, notice, isCut } = readableOutput(shown, capture, name, undefined);
  return { text: readable, truncated: truncated || isCut, ...(notice && { notice }) };
}
