import type { OutputChunk } from '../../engine/outcome.js';
import type { JobEnd, JobState } from '../../jobs/job.js';
import { Listener } from '../../pipeline/listener.js';
import { TailUpdates } from '../../pipeline/tail-updates.js';
import type { ToolCall, ToolResult } from '../contract.js';
import type { AsyncDetails, WorkspaceDetails } from './result.js';

const UPDATE_INTERVAL_MS = 50;

/** The updates of one call: the last output so far, now and then. */
export class CallUpdates {
  readonly #onUpdate: Listener<ToolResult<Partial<WorkspaceDetails>>>;
  readonly #onOutput: Listener<OutputChunk>;
  readonly #tail: TailUpdates;
  readonly #toShown: (text: string) => string;
  #jobId: string | undefined;

  /**
   * @param maxBytes UTF-8 bytes of output that an update carries at most.
   * @param toShown Makes what is shown of the raw text. Default: it is shown as it is.
   */
  constructor(
    { onUpdate, onOutput }: ToolCall<WorkspaceDetails>,
    maxBytes: number,
    toShown: (text: string) => string = (text) => text,
  ) {
    this.#onUpdate = new Listener('onUpdate', onUpdate);
    this.#onOutput = new Listener('onOutput', onOutput);
    this.#tail = new TailUpdates({
      maxBytes,
      intervalMs: UPDATE_INTERVAL_MS,
      emit: (text) => this.#emit(toShown(text), 'running'),
    });
    this.#toShown = toShown;
  }

  /** The last output so far. */
  get tail(): string {
    return this.#toShown(this.#tail.tail);
  }

  push(chunk: OutputChunk): void {
    this.#tail.push(chunk);
    this.#onOutput.tell(chunk);
  }

  /** Output that is no text to be shown: only who wants all of it is told. */
  pass(chunk: OutputChunk): void {
    this.#onOutput.tell(chunk);
  }

  /** This is what there is to see now. */
  show(text: string): void {
    this.#tail.replace(text);
  }

  /** The call gets its answer now: from here on updates say whose they are. */
  background(jobId: string): void {
    this.#jobId = jobId;
    this.#onOutput.stop();
  }

  /** The command is over; a job's last update is its end. */
  stop(end?: JobEnd): void {
    this.#tail.stop();
    this.#onOutput.stop();
    if (end !== undefined && this.#jobId !== undefined) this.#emit(end.text, end.state);
  }

  #emit(text: string, state: JobState): void {
    const details = this.#jobId === undefined ? {} : { async: asyncDetails(this.#jobId, state) };
    this.#onUpdate.tell({ content: [{ type: 'text', text }], details });
  }
}

/** What is said of a job in details. */
export function asyncDetails(jobId: string, state: JobState): AsyncDetails {
  return { state, jobId, type: 'bash' };
}
