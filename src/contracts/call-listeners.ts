import type { OutputChunk } from '../engine/outcome.js';
import { Listener } from '../support/listener.js';
import type { ToolCall, ToolResult } from './contract.js';
import { TailUpdates } from './tail-updates.js';

/** What an update shows. */
export interface UpdateOptions {
  /** UTF-8 bytes of output that an update carries at most. Default: 51,200. */
  readonly maxBytes?: number | undefined;
  /** Makes what is shown of the raw text. Default: it is shown as it is. */
  readonly toShown?: ((text: string) => string) | undefined;
  /** The last output is asked for although nobody gets updates. Default: false. */
  readonly keepsTail?: boolean | undefined;
}

/** What a command that goes on after its call has been answered tells at its end. */
export interface LastUpdate<Details> {
  readonly text: string;
  readonly details: Partial<Details>;
}

const UPDATE_INTERVAL_MS = 50;
const DEFAULT_MAX_BYTES = 50 * 1024;

/** Those who listen to one call: to the last output so far, and to all of it as it comes. */
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

  /** Tells them what the command has printed. */
  readonly tell = (chunk: OutputChunk): void => {
    if (this.#keepsTail || this.#onUpdate.isPresent) this.#tail.push(chunk);
    this.#onOutput.tell(chunk);
  };

  /** Output that is no text to be shown: only who wants all of it is told. */
  readonly pass = (chunk: OutputChunk): void => this.#onOutput.tell(chunk);

  /** This is what there is to see now. */
  readonly show = (text: string): void => this.#tail.replace(text);

  /** The call gets its answer now: from here on updates say by these details whose they are. */
  answered(details: Partial<Details>): void {
    this.#details = details;
    this.#onOutput.stop();
  }

  /** The command is over: they hear nothing more, but this. */
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
