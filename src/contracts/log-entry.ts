import type { Outcome } from '../engine/outcome.js';
import type { InteractionEntry } from '../interaction-log/log.js';
import type { Receipt } from '../receipt/receipt.js';
import { messageOf } from '../support/errors.js';
import { signalExitCode } from '../support/signals.js';
import type { ToolResult } from './contract.js';
import { receiptIn, receiptOfError, ToolAbortError, toToolError } from './errors.js';
import { CANCELLED, NO_STATUS, signalNotice, timedOut } from './notices.js';

/** What is known of a command when its entry is written. */
type Known = {
  readonly [Name in 'receipt' | 'error' | 'detachedPid']?: InteractionEntry[Name] | undefined;
};

/** Takes an entry, at once or when it is there; the promise is never rejected. */
type Append = (entry: InteractionEntry | Promise<InteractionEntry>) => void;

/** A command on its way, to be noted once: when it has ended, or why it never began. */
export class PendingEntry {
  readonly #command: string;
  readonly #signal: AbortSignal | undefined;
  readonly #append: Append;
  readonly #time = new Date();
  readonly #startedAt = performance.now();
  #isNoted = false;

  /** @param signal Of its call. */
  constructor(command: string, signal: AbortSignal | undefined, append: Append) {
    this.#command = command;
    this.#signal = signal;
    this.#append = append;
  }

  /** Notes the end of the command that this answer is about; gives it back. */
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

  /** Notes why the command has no answer, if that is so; gives the call back. */
  async ofCall<Answer>(call: Promise<Answer>): Promise<Answer> {
    try {
      return await call;
    } catch (reason) {
      this.#note(knownOf(toToolError(reason, this.#signal)));
      throw reason;
    }
  }

  /** Notes the end of a command that nobody waits for. */
  ofReceipt(receipt: Promise<Receipt | undefined>): void {
    this.#isNoted = true;
    this.#append(receipt.then((known) => this.#entry({ receipt: known })));
  }

  /** Notes that it runs: its end is nobody's here. */
  ofDetached(detachedPid: number): void {
    this.#note({ detachedPid });
  }

  /** The first counts. */
  #note(known: Known): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#append(this.#entry(known));
  }

  #entry({ receipt, error, detachedPid }: Known): InteractionEntry {
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

function knownOf(error: unknown): Known {
  const receipt = receiptOfError(error);
  if (error instanceof ToolAbortError) return { receipt, error: CANCELLED };
  // Its message has the output, which is not for the log; what the receipt says is.
  return receipt === undefined ? { error: messageOf(error) } : { receipt };
}

/** A signal has the exit code that shells give it. */
function endOf(outcome: Outcome): { readonly exitCode?: number; readonly why?: string } {
  switch (outcome.kind) {
    case 'exited':
      return { exitCode: outcome.exitCode };
    case 'signaled':
      return { exitCode: signalExitCode(outcome.signal), why: signalNotice(outcome.signal) };
    case 'timedOut':
      return { why: timedOut(outcome.timeoutMs / 1000) };
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
