import type { OutputChunk } from '../../../engine/outcome.js';
import type { JobEnd } from '../../../jobs/job.js';
import type { JobManager } from '../../../jobs/manager.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { abortReason, onAbort } from '../../../support/abort.js';
import { messageOf } from '../../../support/errors.js';
import { settlesWithin } from '../../../support/timing.js';
import { CallListeners, type LastUpdate } from '../../call-listeners.js';
import type { ToolCall, ToolResult } from '../../contract.js';
import { receiptOfError, ToolAbortError, toToolError } from '../../errors.js';
import { joinSections } from '../../notices.js';
import type { PreparedCommand } from '../input/prepare.js';
import type { WorkspaceSettings } from '../options.js';
import {
  asyncDetails,
  clampNotice,
  timeoutDetails,
  type WorkspaceDetails,
} from '../output/result.js';
import { jobLabel, preview, startedText } from './job-text.js';

type Answer = ToolResult<WorkspaceDetails>;

/** What starts a command: it ends when the signal is aborted. */
export type Run = (signal: AbortSignal, onOutput: (chunk: OutputChunk) => void) => Promise<Answer>;

/** A command that may become, or is, a job. */
class JobCandidate {
  readonly answer: Promise<Answer>;
  readonly #command: PreparedCommand;
  readonly #settings: WorkspaceSettings;
  readonly #controller = new AbortController();
  readonly #listeners: CallListeners<WorkspaceDetails>;
  readonly #startedAt = performance.now();
  #jobId: string | undefined;
  /** Of its end. */
  #receipt: Receipt | undefined;
  /** The call's signal is nothing to it any more. */
  readonly #letGo: () => void;

  constructor(
    command: PreparedCommand,
    call: ToolCall<WorkspaceDetails>,
    settings: WorkspaceSettings,
    run: Run,
  ) {
    this.#command = command;
    this.#settings = settings;
    this.#listeners = new CallListeners(call, { ...settings.updates, keepsTail: true });
    const { signal } = call;
    const abort = (): void => this.#controller.abort(signal && abortReason(signal));
    this.#letGo = signal === undefined ? () => {} : onAbort(signal, abort);
    this.answer = run(this.#controller.signal, this.#listeners.tell);
  }

  /** Waits for its end. */
  async finish(): Promise<Answer> {
    try {
      return await this.answer;
    } finally {
      this.#letGo();
      this.#listeners.stop();
    }
  }

  /**
   * Makes it a job, which goes on whatever becomes of the call.
   *
   * @param afterMs How long it has run, when it was not started as one.
   * @throws {JobLimitError} No other job may run.
   */
  background(manager: JobManager, afterMs?: number): Answer {
    const { timeout, notice } = this.#command;
    const ended = this.#end().then((end) => {
      this.#listeners.stop(this.#lastUpdate(end));
      return end;
    });
    const job = manager.add(
      {
        label: jobLabel(this.#command.command),
        ended,
        tail: () => this.#listeners.tail,
        cancel: () => this.#controller.abort(),
      },
      this.#startedAt,
    );
    this.#letGo();
    this.#jobId = job.id;
    this.#listeners.answered({ async: asyncDetails(job.id, 'running') });
    const clamped = clampNotice(timeout, this.#settings.timeout);
    const started = startedText(job.id, job.label, afterMs);
    const text = joinSections(preview(this.#listeners.tail), [clamped, notice], started);
    const details = { ...timeoutDetails(timeout), async: asyncDetails(job.id, 'running') };
    return { content: [{ type: 'text', text }], details };
  }

  async #end(): Promise<JobEnd> {
    try {
      const { content, details, isError } = await this.answer;
      this.#receipt = details.receipt;
      const text = content.map((part) => part.text).join('');
      return { state: isError ? 'failed' : 'completed', text };
    } catch (reason) {
      const error = toToolError(reason, this.#controller.signal);
      this.#receipt = receiptOfError(error);
      const state = error instanceof ToolAbortError ? 'cancelled' : 'failed';
      return { state, text: messageOf(error) };
    }
  }

  #lastUpdate({ text, state }: JobEnd): LastUpdate<WorkspaceDetails> | undefined {
    if (this.#jobId === undefined) return undefined;
    const receipt = this.#receipt && { receipt: this.#receipt };
    return { text, details: { async: asyncDetails(this.#jobId, state), ...receipt } };
  }
}

/**
 * Starts a command in the background.
 *
 * @throws {JobLimitError} No other job may run; nothing was started.
 */
export function runAsJob(
  manager: JobManager,
  command: PreparedCommand,
  call: ToolCall<WorkspaceDetails>,
  settings: WorkspaceSettings,
  run: Run,
): Answer {
  manager.checkRoom();
  return new JobCandidate(command, call, settings, run).background(manager);
}

/** Runs a command that goes on in the background when it takes longer than `afterMs`. */
export async function runUntilBackground(
  manager: JobManager,
  afterMs: number,
  command: PreparedCommand,
  call: ToolCall<WorkspaceDetails>,
  settings: WorkspaceSettings,
  run: Run,
): Promise<Answer> {
  const candidate = new JobCandidate(command, call, settings, run);
  // A second before its time is up there is nothing left to put into the background.
  const waitMs = Math.min(afterMs, command.timeout.seconds * 1000 - 1000);
  if (waitMs <= 0) return candidate.finish();
  const over = await settlesWithin(
    candidate.answer.catch(() => {}),
    waitMs,
  );
  // With as many jobs as may run, it stays where it is.
  if (over || call.signal?.aborted || !manager.hasRoom()) return candidate.finish();
  return candidate.background(manager, waitMs);
}
