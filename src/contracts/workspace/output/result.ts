import type { KeptOutput } from '../../../artifacts/keep-output.js';
import type { BackgroundProcess, MergedResult, Outcome } from '../../../engine/outcome.js';
import type { TimeoutReason } from '../../../engine/told/timeout-reason.js';
import { type KeptReceipt, makeReceipt, type Receipt } from '../../../receipt/receipt.js';
import type { TaskResult } from '../../../tasks/status.js';
import type { ToolResult } from '../../contract.js';
import { CANCELLED, ToolAbortError, ToolError } from '../../errors.js';
import { readableOutput } from '../../lossy.js';
import {
  afterWarning,
  DISMISSED,
  exitNotice,
  joinSections,
  NO_STATUS,
  noticesOf,
  outputText,
  placeNotice,
  wallTimeNotice,
} from '../../notices.js';
import { BY_THE_SHELL, type MoreTime, timeoutNotice } from '../../timeout-notice.js';
import type { PreparedCommand, Timeout } from '../input/prepare.js';
import type { TimeoutLimits, WorkspaceSettings } from '../options.js';
import type { EndedOutput, MinimizerReport } from './minimize.js';
import { type ShownOutput, showCapture, type Truncation, type WholeOutput } from './show.js';

/** A command in the background. */
export interface AsyncDetails {
  /** Whether the command runs, or how it has ended. */
  readonly state: TaskResult | 'running';
  /** The id of the job: `bg_1`, … */
  readonly jobId: string;
  readonly type: 'bash';
}

/** Makes the details of a job. */
export function asyncDetails(jobId: string, state: AsyncDetails['state']): AsyncDetails {
  return { state, jobId, type: 'bash' };
}

/** Details of a `workspace` result. */
export interface WorkspaceDetails {
  /** The timeout that applied, in seconds. */
  timeoutSeconds: number;
  /** The timeout that was asked for, when it was another one. */
  requestedTimeoutSeconds?: number;
  /** How long the command took, in milliseconds; absent while it runs in the background. */
  wallTimeMs?: number;
  /** The background job that the call became. */
  async?: AsyncDetails;
  /** The id of the client's terminal in which the command ran. */
  terminalId?: string;
  /** Set when the client's terminal has dropped the beginning of the output, of unknown length. */
  terminalTruncated?: true;
  /** The exit code; present when it is not 0. */
  exitCode?: number;
  /** Processes that still run; present when there are any. */
  background?: readonly BackgroundProcess[];
  /** Facts about an output that is not shown as it is: `truncation` if cut, `minimizer` if shortened. */
  meta?: { truncation?: Truncation; minimizer?: MinimizerReport };
  /** Why the whole output could not be kept. */
  artifactError?: string;
  /** The receipt of the command; absent while it runs in the background. */
  receipt?: Receipt;
}

/** An output as it is in the answer. */
interface AnsweredOutput extends EndedOutput {
  readonly shown: ShownOutput;
  readonly receipt: Receipt;
}

/** Further facts for a result. */
interface ResultExtras {
  /** Why the command did not run in the way that was asked for. */
  readonly notice?: string | undefined;
  /** Whether a person has ended the command. */
  readonly dismissed?: boolean;
}

/** Makes the shown output, and the lines about the rest. */
export function shownOutput(
  result: MergedResult,
  settings: WorkspaceSettings,
  { kept, shortened }: EndedOutput,
): ShownOutput {
  const { capture = result.output, origin } = shortened?.version ?? {};
  const show = (whole?: WholeOutput) => showCapture(capture, settings.output, whole, origin);
  const shown = show(wholeOutput(kept));
  return result.output.lossy ? showLossy(shown, () => show(), result, kept) : shown;
}

/**
 * Makes a lossy output readable. Only a spill file has the exact bytes; from memory, text is kept.
 *
 * @param withoutPlace Shows the same, without the place of the whole output.
 */
function showLossy(
  shown: ShownOutput,
  withoutPlace: () => ShownOutput,
  result: MergedResult,
  kept: KeptOutput,
): ShownOutput {
  const place =
    kept.kind === 'kept' ? placeNotice(`artifact://${kept.artifact.id}`, kept) : undefined;
  const exact = result.spill && place;
  const asText = result.spill ? undefined : place;
  const readable = readableOutput(shown.text, result.output, 'the output', exact, asText);
  const { text, notice, isCut, isBinary } = readable;
  const { parts, cut } = shown;
  const { truncation } = cut ?? {};
  // The line that stands for binary output says where all of it is.
  const told = isBinary ? undefined : isCut ? withoutPlace().cut?.notice : cut?.notice;
  return {
    text,
    ...(parts && text === shown.text && { parts }),
    ...(truncation && { cut: { ...(told !== undefined && { notice: told }), truncation } }),
    ...(notice !== undefined && { lossy: notice }),
    ...(isCut && { unreadable: true }),
  };
}

/**
 * Makes the receipt of a command that ended.
 *
 * @param environment The environment block of the command.
 */
export function workspaceReceipt(
  result: MergedResult,
  { ownText: text }: Pick<PreparedCommand, 'ownText'>,
  environment: string,
  { cut, unreadable = false }: ShownOutput,
  { kept, shortened }: EndedOutput,
): Receipt | Promise<Receipt> {
  const isCut = cut !== undefined || shortened !== undefined || unreadable;
  return makeReceipt(result, {
    text,
    environment,
    cut: { output: isCut },
    kept: kept.kind === 'kept' ? keptReceipt(kept) : undefined,
    keptError: isCut && kept.kind === 'failed' ? kept.reason : undefined,
  });
}

function keptReceipt({
  artifact,
  bytes,
  missing,
}: KeptOutput & { readonly kind: 'kept' }): KeptReceipt {
  return { path: artifact.path, artifactId: artifact.id, bytes, missing };
}

/**
 * Makes the answer about a command that ended.
 *
 * @throws {ToolError} The command timed out, ended without an exit code, or was ended by a person.
 * @throws {ToolAbortError} The call was cancelled.
 */
export function workspaceResult(
  result: MergedResult,
  timeout: Timeout,
  settings: WorkspaceSettings,
  { kept, shortened, shown, receipt }: AnsweredOutput,
  { notice, dismissed = false }: ResultExtras = {},
): ToolResult<WorkspaceDetails> {
  const details = workspaceDetails(result, timeout, shown, shortened?.report);
  details.receipt = receipt;
  if (details.meta !== undefined && kept.kind === 'failed') details.artifactError = kept.reason;
  const raw = rawOutputNotice(shortened?.report);
  const clamped = clampNotice(timeout, settings.timeout);
  const { outcome } = result;
  const isStopped = outcome.kind === 'timedOut' || outcome.kind === 'cancelled';
  const wallTime = isStopped ? undefined : wallTimeNotice(result.durationMs);
  const onOutput = [shown.cut?.notice, shown.lossy];
  const notices = [...noticesOf(onOutput, [wallTime, clamped, notice], receipt), raw];
  const isWarned = receipt.sandbox?.incomplete !== undefined;
  const printed = isWarned ? afterWarning(receipt, outputText(shown.text)) : shown.text;
  if (outcome.kind === 'exited') {
    return exitedResult(printed, notices, outcome.exitCode, details);
  }
  if (outcome.kind === 'cancelled' && dismissed) {
    const message = joinSections(printed, [...notices, DISMISSED], CANCELLED);
    throw new ToolError('dismissed', message, { details });
  }
  throw unfinished(outcome, printed, notices, details, settings);
}

/** Says where a shortened output can be read as it was printed. */
function rawOutputNotice(report: MinimizerReport | undefined): string | undefined {
  if (report?.artifactId === undefined) return undefined;
  return `[raw output: artifact://${report.artifactId}]`;
}

function wholeOutput(kept: KeptOutput): WholeOutput | undefined {
  if (kept.kind !== 'kept') return undefined;
  return { artifactId: kept.artifact.id, ...(!kept.complete && { firstBytes: kept.bytes }) };
}

/** Makes the answer about a command that ended by itself. */
export function exitedResult(
  printed: string,
  notices: readonly (string | undefined)[],
  exitCode: number,
  details: WorkspaceDetails,
): ToolResult<WorkspaceDetails> {
  const output = outputText(printed);
  if (exitCode === 0) {
    return { content: [{ type: 'text', text: joinSections(output, notices) }], details };
  }
  const text = joinSections(output, notices, exitNotice(exitCode));
  return {
    content: [{ type: 'text', text }],
    details: { ...details, exitCode },
    isError: true,
  };
}

/** The outcome of a command that did not end by itself. */
type Unfinished =
  | { readonly kind: 'timedOut'; readonly reason?: TimeoutReason | undefined }
  | { readonly kind: 'cancelled' | 'unknown' }
  | (Outcome & { kind: 'signaled' });

/** Makes the error about a command that did not end by itself. */
export function unfinished(
  outcome: Unfinished,
  output: string,
  notices: readonly (string | undefined)[],
  details: WorkspaceDetails,
  settings: Pick<WorkspaceSettings, 'timeout' | 'async'>,
): ToolError<WorkspaceDetails> | ToolAbortError<WorkspaceDetails> {
  switch (outcome.kind) {
    case 'timedOut': {
      const seconds = details.timeoutSeconds;
      const ending = timeoutNotice(seconds, outcome.reason, moreTime(details, settings));
      return new ToolError('timedOut', joinSections(output, notices, ending), { details });
    }
    case 'cancelled':
      return new ToolAbortError(joinSections(output, notices, CANCELLED), { details });
    case 'signaled':
    case 'unknown': {
      const why = outcome.kind === 'signaled' ? ` (killed by ${outcome.signal})` : '';
      const message = joinSections(output, notices, `${NO_STATUS}${why}`);
      return new ToolError('noStatus', message, { details });
    }
  }
}

function moreTime(
  { timeoutSeconds }: WorkspaceDetails,
  { timeout: { max }, async }: Pick<WorkspaceSettings, 'timeout' | 'async'>,
): MoreTime {
  const background = async ? 'with `async: true`' : BY_THE_SHELL;
  if (timeoutSeconds >= max) {
    return { more: 'No command may take longer: split it into shorter ones.', background };
  }
  const meanwhile = async ? '; with `async: true`, other commands can run meanwhile' : '';
  const more = `For more time, pass a larger \`timeout\` (at most ${max})${meanwhile}.`;
  return { more, background };
}

function workspaceDetails(
  result: MergedResult,
  timeout: Timeout,
  shown: ShownOutput,
  minimizer: MinimizerReport | undefined,
): WorkspaceDetails {
  const details = timeoutDetails(timeout);
  details.wallTimeMs = result.durationMs;
  if (result.background.length > 0) details.background = result.background;
  if (shown.cut !== undefined) details.meta = { truncation: shown.cut.truncation };
  if (minimizer !== undefined) details.meta = { ...details.meta, minimizer };
  return details;
}

/** Says that the command has another timeout than the model has asked for, if that is so. */
export function clampNotice(timeout: Timeout, limits: TimeoutLimits): string | undefined {
  if (timeout.requestedSeconds === undefined) return undefined;
  return (
    `Timeout clamped to ${timeout.seconds}s (requested ${timeout.requestedSeconds}s; ` +
    `allowed range ${limits.min}-${limits.max}s).`
  );
}

/** Makes the details about the timeout. */
export function timeoutDetails({ seconds, requestedSeconds }: Timeout): WorkspaceDetails {
  const details: WorkspaceDetails = { timeoutSeconds: seconds };
  if (requestedSeconds !== undefined) details.requestedTimeoutSeconds = requestedSeconds;
  return details;
}
