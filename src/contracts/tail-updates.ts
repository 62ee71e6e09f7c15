import type { OutputChunk } from '../engine/outcome.js';
import { formatSize, lastBytes } from '../support/text.js';
import { startTimer } from '../support/timing.js';

/** Options for showing the tail of a running command. */
interface TailUpdateOptions {
  /** UTF-8 bytes of output that an update carries at most. */
  readonly maxBytes: number;
  /** Shortest time between two updates, in milliseconds. */
  readonly intervalMs: number;
  /** Receives the last output so far. Must not throw. */
  readonly emit: (tail: string) => void;
}

/** Makes updates with the last output of a running command. */
export class TailUpdates {
  readonly #options: TailUpdateOptions;
  #tail = '';
  #lastEmit = Number.NEGATIVE_INFINITY;
  /** Cancels the pending update; undefined: none is pending. */
  #stopTimer: (() => void) | undefined;
  #stopped = false;

  constructor(options: TailUpdateOptions) {
    this.#options = options;
  }

  /** The last output so far. */
  get tail(): string {
    return this.#tail;
  }

  /** Adds new output. The update comes now, or when the interval has passed. */
  push(chunk: OutputChunk): void {
    if (this.#stopped) return;
    if (chunk.droppedBytes > 0) {
      // Text before a gap does not belong to the text after it.
      this.#tail = `[… ${formatSize(chunk.droppedBytes)} not shown …]\n`;
    }
    this.#take(this.#tail + chunk.text);
  }

  /** Replaces all output so far. */
  replace(text: string): void {
    if (!this.#stopped) this.#take(text);
  }

  #take(text: string): void {
    this.#tail = lastBytes(text, this.#options.maxBytes);
    const wait = this.#lastEmit + this.#options.intervalMs - performance.now();
    if (wait <= 0) this.#emit();
    else this.#stopTimer ??= startTimer(wait, () => this.#emit());
  }

  /** Ends the updates. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer?.();
  }

  #emit(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#lastEmit = performance.now();
    this.#options.emit(this.#tail);
  }
}
