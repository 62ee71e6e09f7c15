import type { OutputChunk } from '../../../engine/outcome.js';
import type { OutputLimits } from '../../../options/command-options.js';
import { Listener } from '../../../support/listener.js';
import { formatSize, lastBytes } from '../../../support/text.js';
import {
  type ClientResult,
  ClientTerminalError,
  type ClientWatcher,
} from '../../../terminal/client-terminal.js';
import type { ClientTerminals } from '../../../terminal/client-terminals.js';
import type { ToolCall, ToolResult } from '../../contract.js';
import { ToolError } from '../../errors.js';
import { wallTimeNotice } from '../../notices.js';
import { type PreparedCommand, withPrefix } from '../input/prepare.js';
import type { WorkspaceSettings } from '../options.js';
import {
  clampNotice,
  exitedResult,
  timeoutDetails,
  unfinished,
  type WorkspaceDetails,
} from '../output/result.js';
import { limitsToShow, showCapture, type Truncation } from '../output/show.js';
import { clientReceipt, troublesOf } from './client-receipt.js';
import { captureText } from './text-capture.js';

type TerminalAnswer = ToolResult<WorkspaceDetails>;

/** The exit code that is reported for a command that a signal ended; the client does not say which. */
const SIGNALED_EXIT_CODE = 137;

/**
 * Runs a command in a terminal of the client.
 *
 * @throws {ToolError} The client gave no terminal, or the command timed out or ended without a status.
 * @throws {ToolAbortError} The call was cancelled.
 */
export async function runInClientTerminal(
  terminals: ClientTerminals,
  command: PreparedCommand,
  settings: WorkspaceSettings,
  call: ToolCall<WorkspaceDetails>,
): Promise<TerminalAnswer> {
  const { headBytes, tailBytes } = settings.output;
  const updates = new ScreenUpdates(call, tailBytes);
  try {
    const result = await terminals.run(
      {
        // Without the snapshot, which belongs to a shell of this machine and would be visible to the user.
        text: withPrefix(command.command, settings.commandPrefix),
        cwd: command.cwd,
        env: clientEnvironment(command, settings),
        timeoutMs: Math.round(command.timeout.seconds * 1000),
        outputByteLimit: headBytes + tailBytes,
      },
      updates,
      call.signal,
    );
    return clientResult(result, command, settings, call.signal);
  } catch (error) {
    if (!(error instanceof ClientTerminalError)) throw error;
    const message = `Command could not be started: the client gave no terminal (${error.message})`;
    throw new ToolError('launch', message, { cause: error });
  } finally {
    updates.stop();
  }
}

/**
 * Makes the variables for the client, which adds its own environment. The host's are not sent, since the
 * client may run on another machine. A variable cannot be removed there; it is just not sent.
 */
function clientEnvironment(
  { cwd, variables }: PreparedCommand,
  { defaults }: WorkspaceSettings,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...defaults, PWD: cwd, ...variables })) {
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** @throws {ToolError | ToolAbortError} The command did not end by itself. */
function clientResult(
  result: ClientResult,
  { timeout, notice }: PreparedCommand,
  settings: WorkspaceSettings,
  signal: AbortSignal | undefined,
): TerminalAnswer {
  const { outcome, terminalId, durationMs } = result;
  const shown = showScreen(result, settings.output);
  const details: WorkspaceDetails = { ...timeoutDetails(timeout), wallTimeMs: durationMs };
  if (terminalId !== undefined) details.terminalId = terminalId;
  if (result.truncated) details.terminalTruncated = true;
  details.receipt = clientReceipt(result, timeout, shown.truncation !== undefined, signal);
  if (shown.truncation !== undefined) details.meta = { truncation: shown.truncation };
  const clamped = clampNotice(timeout, settings.timeout);
  const troubles = troublesOf(result);
  if (outcome.kind === 'exited' || outcome.kind === 'signaled') {
    const killed =
      outcome.kind === 'signaled' ? `Killed by ${oneWord(outcome.signal)}.` : undefined;
    const notices = [
      shown.notice,
      wallTimeNotice(durationMs),
      clamped,
      notice,
      ...troubles,
      killed,
    ];
    const exitCode = outcome.kind === 'exited' ? outcome.exitCode : SIGNALED_EXIT_CODE;
    return exitedResult(shown.text, notices, exitCode, details);
  }
  const reason = outcome.kind === 'unknown' ? outcome.reason : undefined;
  const lost = reason === undefined ? undefined : `The client's terminal failed: ${reason}`;
  const none =
    terminalId === undefined ? 'The client had not yet given a terminal for it.' : undefined;
  const notices = [shown.notice, clamped, notice, ...troubles, lost, none];
  throw unfinished(outcome, shown.text, notices, details, settings);
}

interface ShownScreen {
  readonly text: string;
  readonly notice?: string;
  readonly truncation?: Truncation;
}

function showScreen({ output, truncated }: ClientResult, limits: OutputLimits): ShownScreen {
  if (!truncated) {
    const { text, cut } = showCapture(captureText(output, limitsToShow(limits)), limits);
    return { text, ...cut };
  }
  // The amount that the client has dropped is not known, so there are no line numbers.
  const text = lastBytes(output, limits.headBytes + limits.tailBytes);
  const size = formatSize(Buffer.byteLength(text));
  return { text, notice: `[Showing the last ${size}; the client's terminal keeps no more]` };
}

/** Returns a signal's name from the client, if it is one word. */
function oneWord(signal: string): string {
  return /^[\w+-]{1,32}$/.test(signal) ? signal : 'a signal';
}

/** The updates of a command from a terminal that is polled. */
class ScreenUpdates implements ClientWatcher {
  readonly #onUpdate: Listener<ToolResult<Partial<WorkspaceDetails>>>;
  readonly #onOutput: Listener<OutputChunk>;
  readonly #maxBytes: number;
  #terminalId = '';
  #shown = '';
  #told = '';

  constructor({ onUpdate, onOutput }: ToolCall<WorkspaceDetails>, maxBytes: number) {
    this.#onUpdate = new Listener('onUpdate', onUpdate);
    this.#onOutput = new Listener('onOutput', onOutput);
    this.#maxBytes = maxBytes;
  }

  /** Sends the first update at once, since a runtime can show the terminal only until it is released. */
  created(terminalId: string): void {
    this.#terminalId = terminalId;
    this.#emit('');
  }

  shows(output: string, truncated: boolean): void {
    if (output === this.#shown) return;
    this.#shown = output;
    this.#emit(lastBytes(output, this.#maxBytes));
    this.#tellNew(output, truncated);
  }

  stop(): void {
    this.#onUpdate.stop();
    this.#onOutput.stop();
  }

  #tellNew(output: string, truncated: boolean): void {
    // When the beginning has been dropped, the new part cannot be determined.
    if (truncated || !output.startsWith(this.#told)) this.#onOutput.stop();
    let end = output.length;
    // The client may have read a part of a character.
    while (end > 0 && output[end - 1] === '\uFFFD') end -= 1;
    const text = output.slice(this.#told.length, end);
    if (text === '') return;
    this.#told = output.slice(0, end);
    this.#onOutput.tell({ stream: 'output', text, droppedBytes: 0 });
  }

  #emit(text: string): void {
    const details = { terminalId: this.#terminalId };
    this.#onUpdate.tell({ content: [{ type: 'text', text }], details });
  }
}
