import type { OutputChunk } from '../engine/outcome.js';
import { startTimer } from '../support/timing.js';

/** The engine's interval and size of output events. */
const INTERVAL_MS = 50;
const MOST_CHARACTERS = 64 * 1024;

type Name = 'stdout' | 'stderr';

/** Tells a listener of output, in order: at most every 50 ms, or for each 64 Ki characters. */
export class PacedOutput {
  readonly #tell: (chunk: OutputChunk) => void;
  #waiting: { stream: Name; text: string }[] = [];
  #size = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #stopTimer: (() => void) | undefined;

  constructor(tell: (chunk: OutputChunk) => void) {
    this.#tell = tell;
  }

  push(stream: Name, text: string): void {
    if (text === '') return;
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#waiting.push({ stream, text });
    this.#size += text.length;
    const wait = this.#toldAt + INTERVAL_MS - performance.now();
    if (wait <= 0 || this.#size >= MOST_CHARACTERS) this.flush();
    else this.#stopTimer ??= startTimer(wait, () => this.flush());
  }

  /** Tells the waiting output. */
  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#toldAt = performance.now();
    this.#size = 0;
    for (const chunk of this.#waiting.splice(0)) this.#tell({ ...chunk, droppedBytes: 0 });
  }
}
