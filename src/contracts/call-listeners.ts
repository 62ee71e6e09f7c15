import type { OutputChunk } from '../engine/outcome.js';
import { Listener } from '../support/listener.js';
import type { ToolCall, ToolResult } from './contract.js';
import { TailUpdates } from './tail-updates.js';

/** Options for updates. */
export interface UpdateOptions {
  /** The most UTF-8 bytes of output in an update. Default: 51,200. */
  readonly maxBytes?: number | undefined;
  /** Converts the raw text to what is shown. Default: the raw text. */
  readonly toShown?: ((text: string) => string) | undefined;
  /** Keeps the last output even if there is no listener to updates. Default: false. */
  readonly keepsTail?: boolean | undefined;
}

/** The last update of a command that went on after its call was answered. */
export interface LastUpdate<Details> {
  readonly text: string;
  readonly details: Partial<Details>;
}

const UPDATE_INTERVAL_MS = 50;
const DEFAULT_MAX_BYTES = 50 * 1024;

/** The listeners of one call: `onUpdate`, to the last output so far, and `onOutput`, to all of it. */
export class CallListeners<Details> {
  readonly #onUpdate: Listener<ToolResult<Partial<Details>>>;
  readonly #onOutput: Listener<OutputChunk>;
  readonly #tail: TailUpdates;
  readonly #toShown: (text: string) => string;
  readonly #keepsTail: boolean;
  #details: Partial<Details> = {};

  constructor(
    { onUpdate, onOutput }: ToolCall<Details>,
    {
      maxBytes = DEFAULT_MAX_BYTES,
      toShown = (text) => text,
      keepsTail = false,
    }: UpdateOptions = {},
  ) {
    this.#onUpdate = new Listener('onUpdate', onUpdate);
    this.#onOutput = new Listener('onOutput', onOutput);
    this.#toShown = toShown;
    this.#keepsTail = keepsTail;
    this.#tail = new TailUpdates({
      maxBytes,
      intervalMs: UPDATE_INTERVAL_MS,
      emit: (text) => this.#emit({ text: toShown(text), details: this.#details }),
    });
  }

  /** The last output so far. */
  get tail(): string {
    return this.#toShown(this.#tail.tail);
  }

  /** Tells both listeners of new output. */
  readonly tell = (chunk: OutputChunk): void => {
    if (this.#keepsTail || this.#onUpdate.isPresent) this.#tail.push(chunk);
    this.#onOutput.tell(chunk);
  };

  /** Tells `onOutput` of output that is not shown in updates. */
  readonly pass = (chunk: OutputChunk): void => this.#onOutput.tell(chunk);

  /** Replaces what updates show. */
  readonly show = (text: string): void => this.#tail.replace(text);

  /** Tells that the call is answered. Later updates carry these details, which say what they belong to. */
  answered(details: Partial<Details>): void {
    this.#details = details;
    this.#onOutput.stop();
  }

  /** Ends the listening, after one last update if there is one. */
  stop(last?: LastUpdate<Details>): void {
    this.#tail.stop();
    if (last !== undefined) this.#emit(last);
    this.#onUpdate.stop();
    this.#onOutput.stop();
  }

  #emit({ text, details }: LastUpdate<Details>): void {
    this.#onUpdate.tell({ content: [{ type: 'text', text }], details });
  }
}
