import type { OutputChunk } from '../../engine/outcome.js';
import { lastBytes } from '../../support/text.js';
import type { ToolProgress } from '../contract.js';

/** The most output that is kept until it is taken, in bytes. */
const MOST_WAITING = 256 * 1024;

/** The output of a command until the reader of the stream takes it. */
export class Progress {
  #text = '';
  #dropped = 0;
  #tail: string | undefined;
  #shown = '';
  #wake: (() => void) | undefined;

  /** Adds new output. When too much waits, the oldest is dropped. */
  add({ text, droppedBytes }: OutputChunk): void {
    // Text before a gap would seem to belong to the text after it.
    const before = droppedBytes > 0 ? '' : this.#text;
    const kept = lastBytes(before + text, MOST_WAITING);
    const waited = Buffer.byteLength(this.#text) + Buffer.byteLength(text);
    this.#dropped += droppedBytes + waited - Buffer.byteLength(kept);
    this.#text = kept;
    this.#wake?.();
  }

  /** Sets the last output so far. */
  show(tail: string): void {
    this.#tail = tail;
    this.#wake?.();
  }

  /** Takes the output that waits; undefined: there is none. */
  take(): ToolProgress | undefined {
    if (this.#text === '' && this.#tail === undefined) return undefined;
    this.#shown = this.#tail ?? this.#shown;
    const taken = { text: this.#text, tail: this.#shown, droppedBytes: this.#dropped };
    this.#text = '';
    this.#tail = undefined;
    this.#dropped = 0;
    return taken;
  }

  /** Resolves when there may be output to take. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Ends the output, and wakes the reader. */
  end(): void {
    this.#wake?.();
  }
}
