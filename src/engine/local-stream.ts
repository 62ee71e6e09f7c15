import { decodeCapture } from './addon/codec.js';
import type { NativeCapture } from './addon/native.js';
import { binding } from './channel.js';
import { LaunchError } from './launch-error.js';
import type { Capture } from './outcome.js';

/**
 * Creates a named pipe that only this user may open, and opens it for reading, without waiting for a
 * writer. Reads of it do not wait either.
 *
 * @param path Absolute; must not exist.
 * @param staysOpen Whether the pipe also stays open for writing, so that it never reports EOF.
 * @returns Its file descriptor, which the caller has to close.
 * @throws {LaunchError} Of step `stdio`: the pipe could not be created.
 */
export function makeNamedPipe(path: string, staysOpen: boolean): number {
  const made = binding().makeNamedPipe(path, staysOpen);
  if (made >= 0) return made;
  const message = `the pipe ${path} could not be made`;
  throw new LaunchError({ step: 'stdio', errno: -made, subject: path, message });
}

/** Returns the number of unread bytes in a pipe; undefined when it cannot be known. */
export function bytesInPipe(fd: number): number | undefined {
  const count = binding().bytesInPipe(fd);
  return count < 0 ? undefined : count;
}

/** The kept part of a stream that is read here, by the same rules as for one that the engine reads. */
export class TextCapture {
  readonly #native: NativeCapture;

  constructor({
    headBytes,
    tailBytes,
  }: { readonly headBytes: number; readonly tailBytes: number }) {
    const { TextCapture } = binding();
    this.#native = new TextCapture(headBytes, tailBytes);
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array): void {
    this.#native.push(bytes);
  }

  /** Returns the part kept so far. */
  capture(): Capture {
    return decodeCapture(this.#native.snapshot());
  }
}
