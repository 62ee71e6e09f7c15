import type { OutputChunk } from '../../index.js';
import { startTimer } from '../../support/timing.js';

/** The content of one progress notification. */
export interface ProgressNote {
  /**
   * Bytes of output so far, plus one for each sign of life: each note has more than the one before.
   */
  readonly progress: number;
  /** The output since the note before; absent in a sign of life. */
  readonly message?: string;
}

/** The output that waits for a slow client, in UTF-16 units. */
const MAX_WAITING = 64 * 1024;

/**
 * The time without output after which a note says that the command still runs, in milliseconds: clients
 * with a limit, usually a minute, begin to count anew.
 */
const BEAT_MS = 10_000;

/**
 * Sends the output of one call as progress notes: in order, one under way at a time. A client that does
 * not keep up loses the output that does not fit in between, and is told how much.
 */
export class ProgressStream {
  readonly #send: (note: ProgressNote) => Promise<void>;
  #waiting: string[] = [];
  #waitingLength = 0;
  #skippedBytes = 0;
  #totalBytes = 0;
  #beats = 0;
  #beatIsDue = false;
  #stopTimer = (): void => {};
  #sending: Promise<void> | undefined;
  #stopped = false;

  /**
   * Makes a stream.
   *
   * @param send Settles when the client has room for more.
   */
  constructor(send: (note: ProgressNote) => Promise<void>) {
    this.#send = send;
    this.#restTimer();
  }

  push({ text, droppedBytes }: OutputChunk): void {
    if (this.#stopped) return;
    const bytes = Buffer.byteLength(text) + droppedBytes;
    this.#totalBytes += bytes;
    const shown = droppedBytes > 0 ? skipNotice(droppedBytes) + text : text;
    const fits = this.#waitingLength === 0 || this.#waitingLength + shown.length <= MAX_WAITING;
    // Once output is left out, so is all that follows until the next note: the order must be kept.
    if (fits && this.#skippedBytes === 0) {
      this.#waiting.push(shown);
      this.#waitingLength += shown.length;
    } else {
      this.#skippedBytes += bytes;
    }
    this.#sending ??= this.#sendAll();
  }

  /** Sends what waits, and takes no more. Settles when the client has been sent it. */
  async finish(): Promise<void> {
    const sending = this.#sending;
    const stop = (): void => this.stop();
    if (sending === undefined) stop();
    else await sending.then(stop, stop);
  }

  /** Drops what waits, and takes and sends no more. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
    this.#beatIsDue = false;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#skippedBytes = 0;
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#waitingLength > 0 || this.#skippedBytes > 0 || this.#beatIsDue) {
        await this.#send(this.#take());
      }
      if (!this.#stopped) this.#restTimer();
    } catch {
      // The client is gone: the signal ends the call, not this stream.
      this.stop();
    } finally {
      this.#sending = undefined;
    }
  }

  #restTimer(): void {
    this.#stopTimer();
    this.#stopTimer = startTimer(BEAT_MS, () => {
      this.#beats += 1;
      this.#beatIsDue = true;
      this.#sending ??= this.#sendAll();
    });
  }

  #take(): ProgressNote {
    this.#beatIsDue = false;
    const progress = this.#totalBytes + this.#beats;
    if (this.#waitingLength === 0 && this.#skippedBytes === 0) return { progress };
    if (this.#skippedBytes > 0) this.#waiting.push(skipNotice(this.#skippedBytes));
    const message = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#skippedBytes = 0;
    return { progress, message };
  }
}

function skipNotice(bytes: number): string {
  return `\n[${bytes} bytes skipped]\n`;
}
