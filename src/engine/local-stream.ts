import { decodeCapture } from './addon/codec.js';
import { binding } from './addon/loaded.js';
import type { NativeCapture, NativePipe } from './addon/native.js';
import { channel } from './channel.js';
import { LaunchError } from './launch-error.js';
import type { Capture } from './outcome.js';
import { ERRNO } from './system-error.js';

/**
 * A named pipe that this process reads or writes. Its descriptor is the engine's: Deno's file functions
 * know only descriptors that were opened by them, and Bun makes no readable stream of a pipe.
 */
export class NamedPipe {
  readonly path: string;
  readonly #native: NativePipe;

  /**
   * Creates a named pipe that only this user may open, and opens it for reading, without waiting for a
   * writer.
   *
   * @param path Absolute; must not exist.
   * @param staysOpen Whether the pipe also stays open for writing, so that it never reports EOF.
   * @throws {LaunchError} Of step `stdio`: the pipe could not be created. As with `channel()`.
   */
  constructor(path: string, staysOpen: boolean) {
    const made = channel().native.namedPipe(path, staysOpen);
    if (typeof made === 'number') {
      const message = `the pipe ${path} could not be made`;
      throw new LaunchError({ step: 'stdio', errno: -made, subject: path, message });
    }
    this.path = path;
    this.#native = made;
  }

  /** The number of the file descriptor, for paths in `/proc`; negative once the pipe is closed. */
  get descriptor(): number {
    return this.#native.descriptor;
  }

  /**
   * Reads once, without waiting.
   *
   * @returns The number of bytes; `empty`: there are none, but a writer; `noWriter`: there is none now.
   */
  read(into: Uint8Array): number | 'empty' | 'noWriter' {
    const count = this.#native.read(into);
    if (count === -ERRNO.EAGAIN) return 'empty';
    return count > 0 ? count : 'noWriter';
  }

  /**
   * Writes as many bytes as there is room for, without waiting.
   *
   * @returns Their number; undefined: nothing can be written any more.
   */
  write(bytes: Uint8Array): number | undefined {
    const count = this.#native.write(bytes);
    if (count === -ERRNO.EAGAIN) return 0;
    return count < 0 ? undefined : count;
  }

  /** The number of unread bytes; undefined: it cannot be known. */
  get unread(): number | undefined {
    const count = this.#native.unread();
    return count < 0 ? undefined : count;
  }

  /**
   * Resolves with true when the pipe can be read (also when its last writer has closed it) or written,
   * with false when it is closed here. Does not keep the host alive. One wait at a time.
   */
  whenReady(way: 'reading' | 'writing'): Promise<boolean> {
    return channel().whenReady(this.#native, way === 'writing');
  }

  /** Closes the pipe; a second call has no effect. */
  close(): void {
    this.#native.close();
  }
}

/** Closes a socket that the engine has given, unless a server has taken it. */
export function closeSocket(descriptor: number): void {
  binding().closeSocket(descriptor);
}

/** Answers whether a sandbox's proxy is served, and closes the pipe for the answer. */
export function answerSandbox(answer: number, isServed: boolean): void {
  binding().answerSandbox(answer, isServed);
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
