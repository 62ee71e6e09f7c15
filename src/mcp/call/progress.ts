import type { OutputChunk } from '../../index.js';
import { startTimer } from '../../support/timing.js';

/** What one progress notification says. */
export interface ProgressNote {
  /** Bytes of output so far, and one for each sign of life: each note has more than the one before. */
  readonly progress: number;
  /** The output since the note before; absent in a sign of life. */
  readonly message?: string;
}

/** Output that waits while a client is slow to take the note before; in UTF-16 units. */
const MAX_WAITING = 64 * 1024;

/**
 * After so long without output a note says that the command still runs: clients that give up after
 * a while, usually a minute, begin to count anew.
 */
const BEAT_MS = 10_000;

/**
 * The output of one call as progress notes: in order, one under way at a time. A client that does
 * not keep up loses what does not fit in between, and is told how much.
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

  /** @param send Settles when the client has room for more. */
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
    // Once something is left out, so is all that follows until the next note: order comes first.
    if (fits && this.#skippedBytes === 0) {
      this.#waiting.push(shown);
      this.#waitingLength += shown.length;
    } else {
      this.#skippedBytes += bytes;
    }
    this.#sending ??= this.#sendAll();
  }

  /** Settles when the client has been sent what waits. Nothing is taken any more. */
  async finish(): Promise<void> {
    const sending = this.#sending;
    const stop = (): void => this.stop();
    if (sending === undefined) stop();
    else await sending.then(stop, stop);
  }

  /** Nothing is taken or sent any more. */
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
      // The client is gone. That ends the call by its signal, not here.
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
