import type { OutputChunk } from '../engine/outcome.js';
import type { JobEnd, JobState } from '../jobs/job.js';
import { TailUpdates } from '../pipeline/tail-updates.js';
import type { ToolCall } from './contract.js';
import type { AsyncDetails, WorkspaceDetails } from './workspace-result.js';

const UPDATE_INTERVAL_MS = 50;

/** The updates of one call: the last output so far, now and then. */
export class CallUpdates {
  readonly #onUpdate: ToolCall<WorkspaceDetails>['onUpdate'];
  readonly #tail: TailUpdates;
  #jobId: string | undefined;
  #failed = false;

  /** @param maxBytes UTF-8 bytes of output that an update carries at most. */
  constructor(onUpdate: ToolCall<WorkspaceDetails>['onUpdate'], maxBytes: number) {
    this.#onUpdate = onUpdate;
    this.#tail = new TailUpdates({
      maxBytes,
      intervalMs: UPDATE_INTERVAL_MS,
      emit: (text) => this.#emit(text, 'running'),
    });
  }

  /** The last output so far. */
  get tail(): string {
    return this.#tail.tail;
  }

  push(chunk: OutputChunk): void {
    this.#tail.push(chunk);
  }

  /** The call gets its answer now: from here on updates say whose they are. */
  background(jobId: string): void {
    this.#jobId = jobId;
  }

  /** The command is over; a job's last update is its end. */
  stop(end?: JobEnd): void {
    this.#tail.stop();
    if (end !== undefined && this.#jobId !== undefined) this.#emit(end.text, end.state);
  }

  #emit(text: string, state: JobState): void {
    if (this.#failed) return;
    const details = this.#jobId === undefined ? {} : { async: asyncDetails(this.#jobId, state) };
    try {
      this.#onUpdate?.({ content: [{ type: 'text', text }], details });
    } catch (error) {
      // Neither the command nor the host should fail because a display did.
      this.#failed = true;
      process.emitWarning(`onUpdate threw, no more updates for this call: ${String(error)}`);
    }
  }
}

/** What is said of a job in details. */
export function asyncDetails(jobId: string, state: JobState): AsyncDetails {
  return { state, jobId, type: 'bash' };
}
