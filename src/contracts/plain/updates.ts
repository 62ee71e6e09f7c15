import type { OutputChunk } from '../../engine/outcome.js';
import { Listener } from '../../pipeline/listener.js';
import { TailUpdates } from '../../pipeline/tail-updates.js';
import type { ToolCall, ToolResult } from '../contract.js';
import type { PlainDetails } from './result.js';

const UPDATE_INTERVAL_MS = 50;
const UPDATE_BYTES = 50 * 1024;

/** What a call's listeners are told: the last output so far, of both streams as it comes. */
export class PlainUpdates {
  readonly #onUpdate: Listener<ToolResult<Partial<PlainDetails>>>;
  readonly #onOutput: Listener<OutputChunk>;
  readonly #tail: TailUpdates;

  constructor({ onUpdate, onOutput }: ToolCall<PlainDetails>) {
    this.#onUpdate = new Listener('onUpdate', onUpdate);
    this.#onOutput = new Listener('onOutput', onOutput);
    this.#tail = new TailUpdates({
      maxBytes: UPDATE_BYTES,
      intervalMs: UPDATE_INTERVAL_MS,
      emit: (text) => this.#onUpdate.tell({ content: [{ type: 'text', text }], details: {} }),
    });
  }

  push(chunk: OutputChunk): void {
    if (this.#onUpdate.isPresent) this.#tail.push(chunk);
    this.#onOutput.tell(chunk);
  }

  /** The command is over: they hear nothing more. */
  stop(): void {
    this.#tail.stop();
    this.#onUpdate.stop();
    this.#onOutput.stop();
  }
}
