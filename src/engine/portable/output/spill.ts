import { close, constants, open, write } from 'node:fs';
import { namesOwnDescriptor } from '../../../support/directories/host-files.js';
import { targetOf } from '../../../support/directories/reachable.js';
import { startTimer } from '../../../support/timing.js';
import type { EngineCommand } from '../../message.js';
import type { SpillReport } from '../../outcome.js';
import { ERRNO, errorCode } from '../../system-error.js';
import { errnoOf, errnoText } from '../failure.js';

/** The most bytes that may wait for the disk before the pipes are no longer read. */
const MOST_WAITING_BYTES = 1024 * 1024;
/** How long a disk may take to finish the file, once the output is complete. */
const PATIENCE_MS = 5000;

type Report = Omit<SpillReport, 'path'>;

/** The file of a command's whole output. Its errors are reported at the end. */
export class Spill {
  readonly #drained: () => void;
  #file: number | undefined;
  #room: number;
  #bytes = 0;
  #dropped = 0;
  #errno = 0;
  /** A more exact reason than the errno's. */
  #why: string | undefined;
  #waiting = 0;
  #work: Promise<void>;

  /** @param drained Called when the disk has caught up. */
  constructor(path: string, command: EngineCommand, drained: () => void) {
    this.#drained = drained;
    this.#room = command.spillMaxBytes;
    this.#work = this.#open(path, command.spillAfterBytes !== undefined);
  }

  /** Returns whether the disk is so far behind that the command should wait. */
  get isFull(): boolean {
    return this.#waiting >= MOST_WAITING_BYTES;
  }

  /** Appends bytes, which must not change any more. */
  write(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#waiting += chunk.length;
    this.#work = this.#work.then(() => this.#append(chunk));
  }

  /** Closes the file, and returns its report. */
  finish(): Promise<Report> {
    const closed = this.#work.then(() => this.#close());
    return new Promise((resolve) => {
      const late = { bytes: 0, dropped: 0, error: spillError(ERRNO.ETIMEDOUT) };
      const stop = startTimer(PATIENCE_MS, () => resolve(late));
      void closed.then((report) => {
        stop();
        resolve(report);
      });
    });
  }

  async #open(path: string, isFresh: boolean): Promise<void> {
    const { O_WRONLY, O_CREAT, O_EXCL, O_TRUNC, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;
    // Without O_NONBLOCK, opening a FIFO without a reader would wait.
    const here = namesOwnDescriptor(path) ? 0 : O_NOFOLLOW;
    const flags = O_WRONLY | O_CREAT | (isFresh ? O_EXCL : O_TRUNC) | O_NONBLOCK | O_NOCTTY | here;
    await new Promise<void>((resolve) => {
      open(path, flags, 0o600, (error, file) => {
        if (error === null) this.#file = file;
        else this.#errno = errnoOf(error);
        resolve();
      });
    });
    if (this.#errno !== ERRNO.ELOOP) return;
    const target = await targetOf(path).catch(() => undefined);
    if (target !== undefined) this.#why = `expected a file, got a link: '${path}' -> '${target}'`;
  }

  /** Writes a chunk. Once a byte was dropped, all later ones are, so that the file has no gap. */
  async #append(chunk: Buffer): Promise<void> {
    const fitting = this.#dropped > 0 ? 0 : Math.min(chunk.length, this.#room);
    let written = 0;
    while (written < fitting && this.#file !== undefined) {
      const count = await this.#writeOnce(this.#file, chunk.subarray(written, fitting));
      if (count === 0) break;
      written += count;
    }
    this.#room -= written;
    this.#bytes += written;
    this.#dropped += chunk.length - written;
    const wasFull = this.isFull;
    this.#waiting -= chunk.length;
    if (wasFull && !this.isFull) this.#drained();
  }

  #writeOnce(file: number, bytes: Buffer): Promise<number> {
    return new Promise((resolve) => {
      write(file, bytes, 0, bytes.length, null, (error, count) => {
        if (error !== null) {
          this.#errno = errnoOf(error);
          this.#release();
        }
        resolve(error === null ? count : 0);
      });
    });
  }

  #release(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) close(file, () => {});
  }

  async #close(): Promise<Report> {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) await new Promise<void>((resolve) => close(file, () => resolve()));
    const report = { bytes: this.#bytes, dropped: this.#dropped };
    return this.#errno === 0 ? report : { ...report, error: spillError(this.#errno, this.#why) };
  }
}

function spillError(errno: number, why = errnoText(errno)): SpillReport['error'] & object {
  return { code: errorCode(errno), errno, message: why };
}
