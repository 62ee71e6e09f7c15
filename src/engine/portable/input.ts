import type { Writable } from 'node:stream';
import { ERRNO, errorCode } from '../system-error.js';
import { errnoText } from './failure.js';

/** A command's stdin: a pipe, or nothing. */
export class Input {
  #pipe: Writable | undefined;

  constructor(pipe: Writable | null | undefined) {
    this.#pipe = pipe ?? undefined;
    // The write itself reports the error to its caller.
    pipe?.on('error', () => {
      this.#pipe = undefined;
    });
  }

  /** Resolves once the bytes are in the pipe; rejects (EPIPE) when no process can read them any more. */
  write(bytes: Uint8Array): Promise<void> {
    const pipe = this.#pipe;
    if (pipe === undefined) return Promise.reject(brokenPipe());
    return new Promise((resolve, reject) => {
      // For any error, no process reads the pipe: Node has several names for that.
      pipe.write(bytes, (error) => (error ? reject(brokenPipe()) : resolve()));
    });
  }

  /** Closes the pipe, once all data is written. */
  end(): void {
    this.#pipe?.end();
    this.#pipe = undefined;
  }

  /** Closes the pipe, and drops the waiting data. */
  close(): void {
    this.#pipe?.destroy();
    this.#pipe = undefined;
  }
}

function brokenPipe(): Error {
  const [errno, code] = [ERRNO.EPIPE, errorCode(ERRNO.EPIPE)];
  return Object.assign(new Error(`${code}: ${errnoText(errno)}`), { code, errno });
}
