import type { OutputChunk } from '../../engine/outcome.js';
import { Listener } from '../../pipeline/listener.js';
import { TailUpdates } from '../../pipeline/tail-updates.js';
import type { ToolCall, ToolResult } from '../contract.js';
import type { SessionDetails } from './result.js';

const UPDATE_INTERVAL_MS = 50;
const UPDATE_BYTES = 50 * 1024;

/** What a call's listeners are told while its command runs. */
export class SessionUpdates {
  readonly #onUpdate: Listener<ToolResult<Partial<SessionDetails>>>;
  readonly #onOutput: Listener<OutputChunk>;
  readonly #tail: TailUpdates | undefined;

  constructor({ onUpdate, onOutput }: ToolCall<SessionDetails>) {
    this.#onUpdate = new Listener('onUpdate', onUpdate);
    this.#onOutput = new Listener('onOutput', onOutput);
    if (onUpdate === undefined) return;
    this.#tail = new TailUpdates({
      maxBytes: UPDATE_BYTES,
      intervalMs: UPDATE_INTERVAL_MS,
      emit: (text) => this.#onUpdate.tell({ content: [{ type: 'text', text }], details: {} }),
    });
  }

  /** Whether anybody wants to be told anything. */
  get arePresent(): boolean {
    return this.#onUpdate.isPresent || this.#onOutput.isPresent;
  }

  push(chunk: OutputChunk): void {
    this.#tail?.push(chunk);
    this.#onOutput.tell(chunk);
  }

  /** The command is over: nobody is told any more. */
  stop(): void {
    this.#tail?.stop();
    this.#onUpdate.stop();
    this.#onOutput.stop();
  }
}
