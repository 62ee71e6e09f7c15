import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { hasCode } from '../support/errors.js';
import { pipeSocket } from './pipe-socket.js';
import type { NamedPipe } from './pipes.js';

/** The most bytes in a pipe, unless a privileged process has made it larger. */
const MOST_IN_PIPE = 1024 * 1024;

/** Reads a pipe as it fills. A writer waits while this thread is busy and the pipe is full. */
export class PipeReader {
  readonly #fd: number;
  readonly #socket: Socket;
  #take: ((bytes: Uint8Array) => void) | undefined;
  #isOver = false;
  #hadWriter = false;
  /** Settles when the last writer has closed the pipe; not before there was a writer. */
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
      // The descriptor is closed only after the first of these events.
      this.#socket.once('end', end).once('error', end).once('close', end);
    });
    this.#socket.on('data', (bytes) => {
      this.#hadWriter = true;
      this.#take?.(bytes);
    });
  }

  /** Whether the pipe was opened for writing, as far as the last `drain()` has seen. */
  get wasOpened(): boolean {
    return this.#hadWriter || this.#isOver;
  }

  /** Reads the present content of the pipe. */
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

  /** Drops later output. The pipe is still read, so that no writer is blocked. */
  release(): void {
    this.#take = undefined;
  }

  close(): void {
    this.#take = undefined;
    this.#socket.destroy();
  }

  /** Reads once. Returns 0 if the pipe is empty, or has no writer. */
  #read(into: Buffer): number {
    try {
      return readSync(this.#fd, into);
    } catch (error) {
      if (hasCode(error, 'EIO')) return 0;
      if (!hasCode(error, 'EAGAIN')) throw error;
      // Without a writer this would be EOF.
      this.#hadWriter = true;
      return 0;
    }
  }
}
