import type { KeptOutput } from '../../../artifacts/keep-output.js';
import type { BackgroundProcess, MergedResult, Outcome } from '../../../engine/outcome.js';
import { type KeptReceipt, makeReceipt, type Receipt } from '../../../receipt/receipt.js';
import type { TaskResult } from '../../../tasks/status.js';
import type { ToolResult } from '../../contract.js';
import { ToolAbortError, ToolError } from '../../errors.js';
import { readableOutput } from '../../lossy.js';
import {
  afterWarning,
  CANCELLED,
  DISMISSED,
  exitNotice,
  joinSections,
  NO_STATUS,
  noticesOf,
  outputText,
  placeNotice,
  timeoutNotice,
  wallTimeNotice,
} from '../../notices.js';
import type { PreparedCommand, Timeout } from '../input/prepare.js';
import type { TimeoutLimits, WorkspaceSettings } from '../options.js';
import type { EndedOutput, MinimizerReport } from './minimize.js';
import { type ShownOutput, showCapture, type Truncation, type WholeOutput } from './show.js';

/** A command in the background. */
export interface AsyncDetails {
  /** Whether it runs, or how it has ended. */
  readonly state: TaskResult | 'running';
  /** Its id: `bg_1`, … */
  readonly jobId: string;
  readonly type: 'bash';
}

/** What is said of a job in details. */
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
  /** The client's terminal that it ran in, if it did. */
  terminalId?: string;
  /** The client's terminal has dropped the beginning of the output; nobody knows how much. */
  terminalTruncated?: true;
  /** Present when it is not 0. */
  exitCode?: number;
  /** Processes that still run; present when there are any. */
  background?: readonly BackgroundProcess[];
  /** Present when the output is not shown as it is: `truncation` of a cut one, `minimizer` of a shortened one. */
  meta?: { truncation?: Truncation; minimizer?: MinimizerReport };
  /** Why the whole output was not kept; present when it should have been. */
  artifactError?: string;
  /** All that is known of the command; absent while it runs in the background. */
  receipt?: Receipt;
}

/** An output as it is in the answer. */
interface AnsweredOutput extends EndedOutput {
  readonly shown: ShownOutput;
  readonly receipt: Receipt;
}

/** What else there is to say of a command. */
interface ResultExtras {
  /** Why it did not run in the way that was asked for. */
  readonly notice?: string | undefined;
  /** A person has ended it. */
  readonly dismissed?: boolean;
}

/** What of the output is shown, and what is said of the rest. */
export function shownOutput(
  result: MergedResult,
  settings: WorkspaceSettings,
  { kept, shortened }: EndedOutput,
): ShownOutput {
  const { capture = result.output, origin } = shortened?.version ?? {};
  const shown = showCapture(capture, settings.output, wholeOutput(kept), origin);
  return result.output.lossy ? showLossy(shown, result, kept) : shown;
}

/** Only what was spilled has the exact bytes: what was kept of the memory is text. */
function showLossy(shown: ShownOutput, result: MergedResult, kept: KeptOutput): ShownOutput {
  const hasBytes = result.spill !== undefined && kept.kind === 'kept';
  const place = hasBytes ? placeNotice(`artifact://${kept.artifact.id}`, kept) : undefined;
  const readable = readableOutput(shown.text, result.output, 'the output', place);
  const { text, notice, isCut, isBinary } = readable;
  const { parts, cut } = shown;
  return {
    text,
    ...(parts && text === shown.text && { parts }),
    ...(cut && { cut: isBinary ? { truncation: cut.truncation } : cut }),
    ...(notice !== undefined && { lossy: notice }),
    ...(isCut && { unreadable: true }),
  };
}

/**
 * The receipt of a command that ended.
 *
 * @param environment Its environment block.
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
 * The contract's answer to a command that ended.
 *
 * @throws {ToolError} It timed out, ended without an exit code, or a person has ended it.
 * @throws {ToolAbortError} It was cancelled.
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

/** Where a shortened output can be read as the command printed it. */
function rawOutputNotice(report: MinimizerReport | undefined): string | undefined {
  if (report?.artifactId === undefined) return undefined;
  return `[raw output: artifact://${report.artifactId}]`;
}

function wholeOutput(kept: KeptOutput): WholeOutput | undefined {
  if (kept.kind !== 'kept') return undefined;
  return { artifactId: kept.artifact.id, ...(!kept.complete && { firstBytes: kept.bytes }) };
}

/** The answer for a command that ended by itself. */
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

/** How a command ended that did not by itself. */
type Unfinished =
  | { readonly kind: 'timedOut' | 'cancelled' | 'unknown' }
  | (Outcome & { kind: 'signaled' });

/** The error for a command that did not end by itself. */
export function unfinished(
  outcome: Unfinished,
  output: string,
  notices: readonly (string | undefined)[],
  details: WorkspaceDetails,
  settings: Pick<WorkspaceSettings, 'timeout' | 'async'>,
): ToolError<WorkspaceDetails> | ToolAbortError<WorkspaceDetails> {
  switch (outcome.kind) {
    case 'timedOut': {
      const ending = timeoutNotice(details.timeoutSeconds, timeoutAdvice(details, settings));
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

function timeoutAdvice(
  { timeoutSeconds }: WorkspaceDetails,
  { timeout: { max }, async }: Pick<WorkspaceSettings, 'timeout' | 'async'>,
): string {
  if (timeoutSeconds >= max) return 'No command may take longer: split it into shorter ones.';
  const meanwhile = async ? '; with `async: true`, other commands can run meanwhile' : '';
  return `For more time, pass a larger \`timeout\` (at most ${max})${meanwhile}.`;
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

/** The line that tells a model that it got another timeout than it asked for, if it did. */
export function clampNotice(timeout: Timeout, limits: TimeoutLimits): string | undefined {
  if (timeout.requestedSeconds === undefined) return undefined;
  return (
    `Timeout clamped to ${timeout.seconds}s (requested ${timeout.requestedSeconds}s; ` +
    `allowed range ${limits.min}-${limits.max}s).`
  );
}

/** What details say of the timeout. */
export function timeoutDetails({ seconds, requestedSeconds }: Timeout): WorkspaceDetails {
  const details: WorkspaceDetails = { timeoutSeconds: seconds };
  if (requestedSeconds !== undefined) details.requestedTimeoutSeconds = requestedSeconds;
  return details;
}
