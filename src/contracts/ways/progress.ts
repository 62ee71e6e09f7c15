import type { OutputChunk } from '../../engine/outcome.js';
import { lastBytes } from '../../support/text.js';
import type { ToolProgress } from '../contract.js';

/** Of output that nobody takes, no more than so many bytes wait. */
const MOST_WAITING = 256 * 1024;

/** What a command has printed, until somebody takes it. */
export class Progress {
  #text = '';
  #dropped = 0;
  #tail: string | undefined;
  #shown = '';
  #wake: (() => void) | undefined;

  /** New output. Of what waits, the newest is kept. */
  add({ text, droppedBytes }: OutputChunk): void {
    // What came before a gap would seem to belong to what comes after it.
    const before = droppedBytes > 0 ? '' : this.#text;
    const kept = lastBytes(before + text, MOST_WAITING);
    const waited = Buffer.byteLength(this.#text) + Buffer.byteLength(text);
    this.#dropped += droppedBytes + waited - Buffer.byteLength(kept);
    this.#text = kept;
    this.#wake?.();
  }

  /** The last output so far. */
  show(tail: string): void {
    this.#tail = tail;
    this.#wake?.();
  }

  /** What has not been taken yet; undefined: nothing. */
  take(): ToolProgress | undefined {
    if (this.#text === '' && this.#tail === undefined) return undefined;
    this.#shown = this.#tail ?? this.#shown;
    const taken = { text: this.#text, tail: this.#shown, droppedBytes: this.#dropped };
    this.#text = '';
    this.#tail = undefined;
    this.#dropped = 0;
    return taken;
  }

  /** Resolves when there may be something. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Nothing more comes: who waits is told. */
  end(): void {
    this.#wake?.();
  }
}
