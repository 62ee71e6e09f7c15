import type { BackgroundProcess, MergedResult, Outcome } from '../../engine/outcome.js';
import type { Receipt } from '../../receipt/receipt.js';
import type { ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import { afterWarning, formatSeconds, noticesOf, outputText, stopCommand } from '../notices.js';
import type { Mode, ModesSettings } from './options.js';
import type { SnippedOutput } from './output.js';

/** Details of a command that was waited for. */
export interface ForegroundDetails {
  /** The mode in which it ran. */
  mode: Exclude<Mode, 'background'>;
  /** The timeout that applied, in seconds. */
  timeoutSeconds: number;
  /** How long it took, in milliseconds. */
  wallTimeMs: number;
  /** How it ended. */
  outcome: Outcome;
  /** Processes that still run; present when there are any. */
  background?: readonly BackgroundProcess[];
  /** How long the output was, in bytes; present when its middle is left out. */
  totalBytes?: number;
  /** The file with all of it, until the tool is disposed of; present when it could be kept. */
  wholeOutput?: string;
  /** All that is known of the command. */
  receipt: Receipt;
}

/** Details of a command that goes on by itself. */
export interface BackgroundDetails {
  mode: 'background';
  /** The time after which it is ended, in seconds. */
  timeoutSeconds: number;
  /** Its process id; also that of its process group. */
  pid: number;
  /** Where its output goes, and after it how it ended. */
  outputFile: string;
}

/** Details of a `modes` result. */
export type ModesDetails = ForegroundDetails | BackgroundDetails;

/**
 * The contract's answer to a command that ended.
 *
 * @throws {ToolAbortError} It was cancelled.
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
  const lines = noticesOf(output.notices, [], receipt);
  if (outcome.kind === 'exited' && outcome.exitCode === 0) {
    const text = afterWarning(receipt, withLines(outputText(output.text), lines));
    return { content: [{ type: 'text', text }], details };
  }
  const shown = withLines(output.text, lines);
  if (outcome.kind === 'cancelled') {
    throw new ToolAbortError(afterWarning(receipt, under('[command cancelled]', shown)), {
      details,
    });
  }
  const text =
    outcome.kind === 'timedOut'
      ? under(
          `[command timed out after ${timeoutSeconds}s]`,
          `${ended(shown)}${advice(mode, settings)}`,
        )
      : `[command failed: exit code ${describeFailure(outcome)}]\n${shown}`;
  const content = [{ type: 'text' as const, text: afterWarning(receipt, text) }];
  return { content, details, isError: true };
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

/** `3`; of a command that has no exit code `-1`, and by which signal it ended. */
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

/** Output that is not there leaves no line of its own. */
function under(title: string, output: string): string {
  return output === '' ? title : `${title}\n${output}`;
}

function advice(mode: ForegroundDetails['mode'], { timeouts }: ModesSettings): string {
  const slow = `mode="slow" (${formatSeconds(timeouts.slow)}), or `;
  return `[for more time: ${mode === 'slow' ? '' : slow}mode="background"]`;
}

/** On lines of their own, whatever the output ends with. */
function withLines(output: string, notices: readonly string[]): string {
  if (notices.length === 0) return output;
  return ended(output) + notices.map((notice) => `[${notice}]`).join('\n');
}

/** Its last line has ended. */
function ended(output: string): string {
  return output === '' || output.endsWith('\n') ? output : `${output}\n`;
}

/** The contract's answer to a command that goes on by itself. */
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
