import type { Readable, Writable } from 'node:stream';
import { settlesWithin } from '../../support/timing.js';

/** A line to one other side: bytes both ways, in order, none lost and none twice. */
export interface Link {
  /** Starts to report events; called once. */
  start(events: LinkEvents): void;
  /** Sends bytes. Returns false if no more are to be sent until `writable` is called. */
  write(bytes: Uint8Array): boolean;
  /** Closes the line when all that was written has been sent. */
  end(): void;
  /** Closes the line at once. */
  destroy(): void;
  /** Sets whether the process stays alive for what may come. */
  hold(holds: boolean): void;
}

/** Callbacks for the events of a line. */
interface LinkEvents {
  bytes(chunk: Uint8Array): void;
  writable(): void;
  /** The line was closed, by either side; called once. `reason` is for people. */
  closed(reason: string): void;
}

/** Options of a line over two streams. */
interface StreamLinkOptions {
  /** Sets whether the process stays alive for the streams. Default: the streams decide. */
  readonly hold?: (holds: boolean) => void;
  /** Settles with the reason when the other end has gone, if that is known. */
  readonly ended?: Promise<string>;
  /** Whether a failed write means that nothing is left to be read. Default: false. */
  readonly closesTogether?: boolean;
}

/** The longest wait for the reason, after the other side has closed its end, in milliseconds. */
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
    // The reader of the greeting has paused it.
    this.#input.resume();
    this.#input.on('end', closed('the other side closed the line'));
    this.#input.on('close', closed('the line was closed'));
    this.#output.on('drain', () => this.#events?.writable());
    // A failed write alone does not close the line: bytes that have come are still read.
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
