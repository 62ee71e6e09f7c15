import type { Readable, Writable } from 'node:stream';
import { settlesWithin } from '../../support/timing.js';

/** A line to one other side: bytes both ways, in order, none lost and none twice. */
export interface Link {
  /** Tells of what happens from now on; once. */
  start(events: LinkEvents): void;
  /** Sends; false: no more until `writable` is told. */
  write(bytes: Uint8Array): boolean;
  /** Closes it when all that was written has been sent. */
  end(): void;
  /** Closes it at once. */
  destroy(): void;
  /** Whether the process stays alive for what may come. */
  hold(holds: boolean): void;
}

/** Who is told what happens on a line. */
interface LinkEvents {
  bytes(chunk: Uint8Array): void;
  writable(): void;
  /** It is closed, by whomever; told once. `reason` is for people. */
  closed(reason: string): void;
}

/** What is known of two streams besides. */
interface StreamLinkOptions {
  /** How the process stays alive for them, or does not. Default: by itself. */
  readonly hold?: (holds: boolean) => void;
  /** Settles with why there is nobody at the other end any more, should that be known. */
  readonly ended?: Promise<string>;
  /** Whether nothing is left to be read once nothing can be written. Default: false. */
  readonly closesTogether?: boolean;
}

/** A program that has closed its end is about to tell why, or never does. Milliseconds. */
const REASON_MS = 1000;

/** A line over two streams, such as a child's or a process's own. */
export class StreamLink implements Link {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #options: StreamLinkOptions;
  #events: LinkEvents | undefined;

  constructor(input: Readable, output: Writable, options: StreamLinkOptions = {}) {
    this.#input = input;
    this.#output = output;
    this.#options = options;
  }

  start(events: LinkEvents): void {
    this.#events = events;
    const closed = (reason: string) => (): void => void this.#closeWithReason(reason);
    this.#input.on('data', (chunk: Uint8Array) => this.#events?.bytes(chunk));
    // Whoever has looked at its beginning has paused it.
    this.#input.resume();
    this.#input.on('end', closed('the other side closed the line'));
    this.#input.on('close', closed('the line was closed'));
    this.#output.on('drain', () => this.#events?.writable());
    // Who closes one end only has closed the line: what is left to be read of it still is.
    this.#output.on('error', ({ message }) => {
      if (!this.#options.closesTogether) return;
      this.#close(`it can't be written to: ${message}`);
      this.#input.destroy();
    });
    this.#input.on('error', ({ message }) => this.#close(message));
  }

  write(bytes: Uint8Array): boolean {
    return this.#output.writable ? this.#output.write(bytes) : true;
  }

  end(): void {
    this.#output.end();
  }

  destroy(): void {
    this.#output.destroy();
    this.#input.destroy();
    this.#close('it was closed here');
  }

  hold(holds: boolean): void {
    this.#options.hold?.(holds);
  }

  async #closeWithReason(reason: string): Promise<void> {
    const { ended } = this.#options;
    if (ended === undefined) return this.#close(reason);
    const isKnown = await settlesWithin(ended, REASON_MS, 'keepsAlive');
    this.#close(isKnown ? await ended : reason);
  }

  #close(reason: string): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(reason);
  }
}
