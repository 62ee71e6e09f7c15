import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openHostFile } from './directories/host-files.js';
import { messageOf } from './errors.js';
import { settlesWithin } from './timing.js';

// Whole lines only: with O_APPEND each write is put at the end of the file in one piece. Without
// O_NONBLOCK a pipe without a reader would block a thread, and with it the end of the host.
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOCTTY |
  constants.O_NONBLOCK;
const MODE = 0o600;
const NEWLINE = 0x0a;

/** Options for a file of lines. */
interface LineFileOptions {
  readonly path: string;
  /** Limit for the lines that wait for the disk, in bytes. Lines beyond it are lost, and counted. */
  readonly maxPendingBytes: number;
  /** Called once with the reason why lines are lost. Must not throw. */
  readonly warn: (why: string) => void;
}

/** Makes a line, with its newline, that also reports how many lines before it are missing. */
type LineMaker = (lost: number) => string;

/**
 * A file that lines are appended to, possibly by several processes. A line that cannot be written is lost
 * and counted, and the next line is tried again: by then the disk may have room, or the file may have
 * been moved away.
 */
export class LineFile {
  readonly #options: LineFileOptions;
  #lines: { readonly line: LineMaker; readonly bytes: Buffer }[] = [];
  #pendingBytes = 0;
  #writing: Promise<void> | undefined;
  /** Lost lines that no written line reports yet. */
  #lost = 0;
  /** Whether a write ended in the middle of a line. */
  #torn = false;
  #warned = false;

  constructor(options: LineFileOptions) {
    this.#options = options;
  }

  append(line: LineMaker): void {
    const bytes = Buffer.from(line(0), 'utf8');
    const pending = this.#pendingBytes + bytes.length;
    if (this.#lines.length > 0 && pending > this.#options.maxPendingBytes) {
      this.#lose(1, 'the disk is too slow');
      return;
    }
    this.#lines.push({ line, bytes });
    this.#pendingBytes = pending;
    this.#writing ??= this.#drain();
  }

  /** Waits for the appended lines, for `ms` milliseconds at most. */
  async flush(ms: number): Promise<void> {
    if (this.#writing === undefined) return;
    const written = await settlesWithin(this.#writing, ms, 'keepsAlive');
    if (!written) this.#report('the disk does not answer');
  }

  async #drain(): Promise<void> {
    do await this.#write();
    while (this.#lines.length > 0);
    this.#writing = undefined;
  }

  /** Opens the file for each run of writes, since it may have been moved away. */
  async #write(): Promise<void> {
    let file: FileHandle | undefined;
    try {
      file = await this.#open();
      while (this.#lines.length > 0) await this.#writeNext(file);
    } catch (error) {
      const count = this.#lines.length;
      this.#lines = [];
      this.#pendingBytes = 0;
      this.#lose(count, messageOf(error));
    }
    await file?.close().catch((error: unknown) => this.#report(messageOf(error)));
  }

  async #open(): Promise<FileHandle> {
    const { path } = this.#options;
    const file = await openHostFile(path, FLAGS, MODE);
    const found = await file.stat();
    if (found.isFile() || found.isCharacterDevice()) return file;
    await file.close();
    throw new Error(`${path} is not a file`);
  }

  async #writeNext(file: FileHandle): Promise<void> {
    const [next] = this.#lines;
    if (next === undefined) return;
    const lost = this.#lost;
    const text = lost === 0 ? next.bytes : Buffer.from(next.line(lost), 'utf8');
    const bytes = this.#torn ? Buffer.concat([Buffer.from('\n'), text]) : text;
    const { bytesWritten } = await file.write(bytes, 0, bytes.length);
    if (bytesWritten < bytes.length) {
      if (bytesWritten > 0) this.#torn = bytes[bytesWritten - 1] !== NEWLINE;
      throw new Error('the disk is full');
    }
    this.#torn = false;
    this.#lost -= lost;
    this.#lines.shift();
    this.#pendingBytes -= next.bytes.length;
  }

  #lose(count: number, why: string): void {
    this.#lost += count;
    this.#report(why);
  }

  #report(why: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.warn(why);
  }
}
