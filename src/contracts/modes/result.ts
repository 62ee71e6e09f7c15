import type { BackgroundProcess, MergedResult, Outcome } from '../../engine/outcome.js';
import type { TimeoutReason } from '../../engine/told/timeout-reason.js';
import { isEventful, type Receipt } from '../../receipt/receipt.js';
import type { ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import { afterWarning, formatSeconds, noticesOf, outputText, stopCommand } from '../notices.js';
import { adviceOf } from '../timeout-notice.js';
import type { Mode, ModesSettings } from './options.js';
import type { SnippedOutput } from './output.js';

/** Details of a command that was waited for. */
export interface ForegroundDetails {
  /** The mode of the command. */
  mode: Exclude<Mode, 'background'>;
  /** The timeout that applied, in seconds. */
  timeoutSeconds: number;
  /** How long the command took, in milliseconds. */
  wallTimeMs: number;
  /** How the command ended. */
  outcome: Outcome;
  /** Processes that still run; present when there are any. */
  background?: readonly BackgroundProcess[];
  /** Length of the output in bytes; present when its middle is left out. */
  totalBytes?: number;
  /** The file with all of the output, until the tool is disposed of; present when it could be kept. */
  wholeOutput?: string;
  /** The receipt of the command. */
  receipt: Receipt;
}

/** Details of a command in the background. */
export interface BackgroundDetails {
  mode: 'background';
  /** The time after which the command is ended, in seconds. */
  timeoutSeconds: number;
  /** Process id, which is also the id of the process group. */
  pid: number;
  /** The file for the output, and a last line about how the command ended. */
  outputFile: string;
}

/** Details of a `modes` result. */
export type ModesDetails = ForegroundDetails | BackgroundDetails;

/**
 * Makes the answer about a command that ended.
 *
 * @throws {ToolAbortError} The call was cancelled.
 */
export function foregroundResult(
  result: MergedResult,
  output: SnippedOutput,
  receipt: Receipt,
  mode: ForegroundDetails['mode'],
  settings: ModesSettings,
): ToolResult<ModesDetails> {
  const timeoutSeconds = settings.timeouts[mode];
  const details = foregroundDetails(result, mode, timeoutSeconds, output, receipt);
  const { outcome } = result;
  const hasLines = isEventful(receipt) || output.notices.some((notice) => notice !== undefined);
  const lines = hasLines ? noticesOf(output.notices, [], receipt) : [];
  if (outcome.kind === 'exited' && outcome.exitCode === 0) {
    const printed = output.text.trim() === '' ? outputText(output.text) : output.text;
    const text = warned(receipt, withLines(printed, lines));
    return { content: [{ type: 'text', text }], details };
  }
  const shown = withLines(output.text, lines);
  if (outcome.kind === 'cancelled') {
    throw new ToolAbortError(warned(receipt, under('[command cancelled]', shown)), { details });
  }
  const text =
    outcome.kind === 'timedOut'
      ? under(
          `[command timed out after ${timeoutSeconds}s]`,
          `${ended(shown)}${advice(outcome.reason, mode, settings)}`,
        )
      : `[command failed: exit code ${describeFailure(outcome)}]\n${shown}`;
  const content = [{ type: 'text' as const, text: warned(receipt, text) }];
  return { content, details, isError: true };
}

/** Puts the warning about an incomplete checkout, which only a sandbox can give, before an answer. */
function warned(receipt: Receipt, text: string): string {
  return receipt.sandbox === undefined ? text : afterWarning(receipt, text);
}

function foregroundDetails(
  result: MergedResult,
  mode: ForegroundDetails['mode'],
  timeoutSeconds: number,
  { totalBytes, path, isCut }: SnippedOutput,
  receipt: Receipt,
): ForegroundDetails {
  const { outcome, background, durationMs } = result;
  return {
    mode,
    timeoutSeconds,
    wallTimeMs: durationMs,
    outcome,
    ...(background.length > 0 && { background }),
    ...(totalBytes !== undefined && { totalBytes }),
    ...(isCut && path !== undefined && { wholeOutput: path }),
    receipt,
  };
}

type Failure = Exclude<Outcome, { kind: 'timedOut' | 'cancelled' }>;

/** Describes a failure: `3`, or for a command without an exit code `-1` and its signal. */
function describeFailure(outcome: Failure): string {
  switch (outcome.kind) {
    case 'exited':
      return String(outcome.exitCode);
    case 'signaled':
      return `-1, ${outcome.signal}`;
    case 'unknown':
      return '-1';
  }
}

/** Puts output below a title; empty output takes no line. */
function under(title: string, output: string): string {
  return output === '' ? title : `${title}\n${output}`;
}

function advice(
  reason: TimeoutReason | undefined,
  mode: ForegroundDetails['mode'],
  { timeouts }: ModesSettings,
): string {
  const slow = `mode="slow" (${formatSeconds(timeouts.slow)}), or `;
  const more = `for more time: ${mode === 'slow' ? '' : slow}mode="background"`;
  return `[${adviceOf(reason, { more, background: 'with mode="background"' }).join(' ')}]`;
}

/** Puts notices below the output, on lines of their own. */
function withLines(output: string, notices: readonly string[]): string {
  if (notices.length === 0) return output;
  return ended(output) + notices.map((notice) => `[${notice}]`).join('\n');
}

/** Ends the last line. */
function ended(output: string): string {
  return output === '' || output.endsWith('\n') ? output : `${output}\n`;
}

/** Makes the answer about a command in the background. */
export function backgroundResult(
  pid: number,
  outputFile: string,
  settings: ModesSettings,
  seen: { readonly pid: number; readonly outputFile: string } = { pid, outputFile },
): ToolResult<ModesDetails> {
  const text =
    `<pid>${seen.pid}</pid>\n<output_file>${seen.outputFile}</output_file>\n` +
    `<reminder>To stop: ${stopCommand([seen.pid])}</reminder>`;
  const timeoutSeconds = settings.timeouts.background;
  return {
    content: [{ type: 'text', text }],
    details: { mode: 'background', timeoutSeconds, pid, outputFile },
  };
}
