import type { NamedPipe } from '../engine/local-stream.js';

/** The most bytes in a pipe, unless a privileged process has made it larger. */
const MOST_IN_PIPE = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** The buffer of all reads: what is read is taken at once. */
let piece: Buffer | undefined;

/** Reads a pipe as it fills. A writer waits while this thread is busy and the pipe is full. */
export class PipeReader {
  readonly #pipe: NamedPipe;
  #take: ((bytes: Uint8Array) => void) | undefined;
  #isOver = false;
  #hadWriter = false;
  /** Settles when the last writer has closed the pipe, or it is closed here; not before there was a writer. */
  readonly over: Promise<void>;

  /** @param take Called with bytes that are valid during the call alone. */
  constructor(pipe: NamedPipe, take: (bytes: Uint8Array) => void) {
    this.#pipe = pipe;
    this.#take = take;
    this.over = this.#follow();
  }

  /** Whether the pipe was opened for writing, as far as the last `drain()` has seen. */
  get wasOpened(): boolean {
    return this.#hadWriter || this.#isOver;
  }

  /** Reads the present content of the pipe. Without a writer this is no end: there may not have been one. */
  drain(): void {
    this.#read();
  }

  /** Drops later output. The pipe is still read, so that no writer is blocked. */
  release(): void {
    this.#take = undefined;
  }

  close(): void {
    this.#take = undefined;
    this.#pipe.close();
  }

  async #follow(): Promise<void> {
    // The kernel reports a pipe without a writer only after there was one.
    while ((await this.#pipe.whenReady('reading')) && this.#read() !== 'noWriter');
    this.#isOver = true;
    this.#pipe.close();
  }

  /** Reads until the pipe is empty, or has no writer. */
  #read(): 'empty' | 'noWriter' {
    piece ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let taken = 0; taken < MOST_IN_PIPE; ) {
      const length = this.#pipe.read(piece);
      if (length === 'noWriter') return length;
      this.#hadWriter = true;
      if (length === 'empty') return length;
      this.#take?.(piece.subarray(0, length));
      taken += length;
    }
    return 'empty';
  }
}
