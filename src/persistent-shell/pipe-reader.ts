import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { hasCode } from '../support/errors.js';
import { pipeSocket } from './pipe-socket.js';
import type { NamedPipe } from './pipes.js';

/** What a pipe holds at most, unless somebody with more rights makes it larger. */
const MOST_IN_PIPE = 1024 * 1024;

/** Reads a pipe as it fills; whoever writes waits while this thread is busy. */
export class PipeReader {
  readonly #fd: number;
  readonly #socket: Socket;
  #take: ((bytes: Uint8Array) => void) | undefined;
  #isOver = false;
  #hadWriter = false;
  /** Settles when nobody writes to it any more; not before somebody did. */
  readonly over: Promise<void>;

  constructor({ fd }: NamedPipe, take: (bytes: Uint8Array) => void) {
    this.#fd = fd;
    this.#take = take;
    this.#socket = pipeSocket(fd, 'in');
    this.over = new Promise((resolve) => {
      const end = (): void => {
        this.#isOver = true;
        resolve();
      };
      // Its descriptor is closed only after the first of these.
      this.#socket.once('end', end).once('error', end).once('close', end);
    });
    this.#socket.on('data', (bytes) => {
      this.#hadWriter = true;
      this.#take?.(bytes);
    });
  }

  /** Somebody has opened it to write, as far as was seen when it was drained last. */
  get wasOpened(): boolean {
    return this.#hadWriter || this.#isOver;
  }

  /** Takes what lies in the pipe now. */
  drain(): void {
    const piece = Buffer.allocUnsafe(64 * 1024);
    for (let taken = 0; !this.#isOver && taken < MOST_IN_PIPE; ) {
      const length = this.#read(piece);
      if (length === 0) return;
      this.#hadWriter = true;
      this.#take?.(piece.subarray(0, length));
      taken += length;
    }
  }

  /** What comes from now on is read and dropped, so that nobody who still writes is held up. */
  release(): void {
    this.#take = undefined;
  }

  close(): void {
    this.#take = undefined;
    this.#socket.destroy();
  }

  /** 0: nothing is there, or nobody writes. */
  #read(into: Buffer): number {
    try {
      return readSync(this.#fd, into);
    } catch (error) {
      if (hasCode(error, 'EIO')) return 0;
      if (!hasCode(error, 'EAGAIN')) throw error;
      // Without a writer it would be an end of file.
      this.#hadWriter = true;
      return 0;
    }
  }
}
