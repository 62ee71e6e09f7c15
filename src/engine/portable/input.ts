import type { Writable } from 'node:stream';
import { ERRNO, errorCode } from '../system-error.js';
import { errnoText } from './failure.js';

/** A command's stdin: a pipe, or nothing. */
export class Input {
  #pipe: Writable | undefined;

  constructor(pipe: Writable | null | undefined) {
    this.#pipe = pipe ?? undefined;
    // Whoever writes is told by the write.
    pipe?.on('error', () => {
      this.#pipe = undefined;
    });
  }

  /** Resolves once the bytes are in the pipe; rejects (EPIPE) when nobody can read them any more. */
  write(bytes: Uint8Array): Promise<void> {
    const pipe = this.#pipe;
    if (pipe === undefined) return Promise.reject(brokenPipe());
    return new Promise((resolve, reject) => {
      // Whatever the reason, nobody reads it: Node has several names for that.
      pipe.write(bytes, (error) => (error ? reject(brokenPipe()) : resolve()));
    });
  }

  /** End of file, once all is written. */
  end(): void {
    this.#pipe?.end();
    this.#pipe = undefined;
  }

  /** Nobody will read what waits. */
  close(): void {
    this.#pipe?.destroy();
    this.#pipe = undefined;
  }
}

function brokenPipe(): Error {
  const [errno, code] = [ERRNO.EPIPE, errorCode(ERRNO.EPIPE)];
  return Object.assign(new Error(`${code}: ${errnoText(errno)}`), { code, errno });
}
