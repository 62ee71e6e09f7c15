import type { OutputChunk } from '../engine/outcome.js';
import { formatSize, lastBytes } from '../support/text.js';
import { startTimer } from '../support/timing.js';

/** How the tail of a running command is shown. */
interface TailUpdateOptions {
  /** UTF-8 bytes of output that an update carries at most. */
  readonly maxBytes: number;
  /** Least time between two updates, in milliseconds. */
  readonly intervalMs: number;
  /** Receives the last output so far. Must not throw. */
  readonly emit: (tail: string) => void;
}

/** Turns the chunks of a running command into updates with its last output. */
export class TailUpdates {
  readonly #options: TailUpdateOptions;
  #tail = '';
  #lastEmit = Number.NEGATIVE_INFINITY;
  /** Takes the next update back; undefined: none is to come. */
  #stopTimer: (() => void) | undefined;
  #stopped = false;

  constructor(options: TailUpdateOptions) {
    this.#options = options;
  }

  /** The last output so far. */
  get tail(): string {
    return this.#tail;
  }

  /** Takes new output; the update comes now or when the interval has passed. */
  push(chunk: OutputChunk): void {
    if (this.#stopped) return;
    if (chunk.droppedBytes > 0) {
      // What came before the gap does not belong to what comes after it.
      this.#tail = `[… ${formatSize(chunk.droppedBytes)} not shown …]\n`;
    }
    this.#take(this.#tail + chunk.text);
  }

  /** Takes this in place of all before. */
  replace(text: string): void {
    if (!this.#stopped) this.#take(text);
  }

  #take(text: string): void {
    this.#tail = lastBytes(text, this.#options.maxBytes);
    const wait = this.#lastEmit + this.#options.intervalMs - performance.now();
    if (wait <= 0) this.#emit();
    else this.#stopTimer ??= startTimer(wait, () => this.#emit());
  }

  /** No update comes after this. */
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
