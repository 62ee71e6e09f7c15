import type { Outcome } from '../engine/outcome.js';
import type { InteractionEntry } from '../interaction-log/log.js';
import type { Receipt } from '../receipt/receipt.js';
import { messageOf } from '../support/errors.js';
import { signalExitCode } from '../support/signals.js';
import type { ToolResult } from './contract.js';
import { CANCELLED, receiptIn, receiptOfError, ToolAbortError, toToolError } from './errors.js';
import { NO_STATUS, signalNotice } from './notices.js';
import { timeoutLine } from './timeout-notice.js';

/** The facts about a command that its entry is made of. */
type KnownEnd = {
  readonly [Name in 'receipt' | 'error' | 'detachedPid']?: InteractionEntry[Name] | undefined;
};

/** Appends an entry, or a promise of one, which is never rejected. */
type Append = (entry: InteractionEntry | Promise<InteractionEntry>) => void;

/** The entry of a command under way, written once: when the command has ended, or failed to start. */
export class PendingEntry {
  readonly #command: string;
  readonly #signal: AbortSignal | undefined;
  readonly #append: Append;
  readonly #time = new Date();
  readonly #startedAt = performance.now();
  #isNoted = false;

  /** @param signal The signal of the call. */
  constructor(command: string, signal: AbortSignal | undefined, append: Append) {
    this.#command = command;
    this.#signal = signal;
    this.#append = append;
  }

  /** Writes the end of the command that this answer is about. Returns the answer. */
  async ofRun<Answer extends ToolResult<object>>(run: Promise<Answer>): Promise<Answer> {
    const answer = await this.ofCall(run);
    const { details, structured } = answer;
    const { error } = structured ?? {};
    this.#note({
      receipt: receiptIn(details),
      error: typeof error === 'string' ? error : undefined,
    });
    return answer;
  }

  /** Writes why the command has no answer, if the call is rejected. Settles as the call does. */
  async ofCall<Answer>(call: Promise<Answer>): Promise<Answer> {
    try {
      return await call;
    } catch (reason) {
      this.#note(knownOf(toToolError(reason, this.#signal)));
      throw reason;
    }
  }

  /** Writes the end of a command for which no call waits. */
  ofReceipt(receipt: Promise<Receipt | undefined>): void {
    this.#isNoted = true;
    this.#append(receipt.then((known) => this.#entry({ receipt: known })));
  }

  /** Writes that a detached command runs. This process may not see its end. */
  ofDetached(detachedPid: number): void {
    this.#note({ detachedPid });
  }

  /** Writes the entry, unless one has been written. */
  #note(known: KnownEnd): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#append(this.#entry(known));
  }

  #entry({ receipt, error, detachedPid }: KnownEnd): InteractionEntry {
    const { exitCode, why } = receipt === undefined ? {} : endOf(receipt.outcome);
    const told = error ?? why;
    return {
      time: this.#time.toISOString(),
      command: this.#command,
      ...(exitCode !== undefined && { exitCode }),
      ...(told !== undefined && { error: told }),
      ...(detachedPid !== undefined && { detachedPid }),
      ...sizesOf(receipt),
      durationMs: Math.round(performance.now() - this.#startedAt),
      ...(receipt !== undefined && { receipt }),
    };
  }
}

function knownOf(error: unknown): KnownEnd {
  const receipt = receiptOfError(error);
  if (error instanceof ToolAbortError) return { receipt, error: CANCELLED };
  // The error's message contains the output, which the log must not have. The receipt says enough.
  return receipt === undefined ? { error: messageOf(error) } : { receipt };
}

/** Returns the exit code, or why there is none. For a signal it is the code that shells report. */
function endOf(outcome: Outcome): { readonly exitCode?: number; readonly why?: string } {
  switch (outcome.kind) {
    case 'exited':
      return { exitCode: outcome.exitCode };
    case 'signaled':
      return { exitCode: signalExitCode(outcome.signal), why: signalNotice(outcome.signal) };
    case 'timedOut':
      return { why: timeoutLine(outcome.timeoutMs / 1000, outcome.reason) };
    case 'cancelled':
      return { why: CANCELLED };
    case 'unknown':
      return { why: NO_STATUS };
  }
}

function sizesOf(receipt: Receipt | undefined): Partial<InteractionEntry> {
  const { output, stdout, stderr } = receipt?.streams ?? {};
  if (output !== undefined) return { outputBytes: output.bytes };
  return { stdoutBytes: stdout?.bytes ?? 0, stderrBytes: stderr?.bytes ?? 0 };
}
