import { decodeCapture } from './addon/codec.js';
import type { NativeCapture } from './addon/native.js';
import { binding } from './channel.js';
import { LaunchError } from './launch-error.js';
import type { Capture } from './outcome.js';

/**
 * Makes a named pipe that only this user may open, and opens it for reading, without waiting for a
 * writer. Reads of it do not wait either.
 *
 * @param path Absolute; nothing may be there.
 * @param staysOpen It has no end, whoever closes it, and may be written to as well.
 * @returns Its descriptor, which is the caller's to close.
 * @throws {LaunchError} Of step `stdio`: it could not be made.
 */
export function makeNamedPipe(path: string, staysOpen: boolean): number {
  const made = binding().makeNamedPipe(path, staysOpen);
  if (made >= 0) return made;
  const message = `the pipe ${path} could not be made`;
  throw new LaunchError({ step: 'stdio', errno: -made, subject: path, message });
}

/** How many bytes lie in a pipe that nobody has read; undefined: that cannot be told. */
export function bytesInPipe(fd: number): number | undefined {
  const count = binding().bytesInPipe(fd);
  return count < 0 ? undefined : count;
}

/** What is kept of a stream that is read here: the same as of one that the engine reads. */
export class TextCapture {
  readonly #native: NativeCapture;

  constructor({
    headBytes,
    tailBytes,
  }: { readonly headBytes: number; readonly tailBytes: number }) {
    const { TextCapture } = binding();
    this.#native = new TextCapture(headBytes, tailBytes);
  }

  /** Takes what comes next. */
  push(bytes: Uint8Array): void {
    this.#native.push(bytes);
  }

  /** What has been kept so far. */
  capture(): Capture {
    return decodeCapture(this.#native.snapshot());
  }
}
