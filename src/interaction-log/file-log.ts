import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { messageOf } from '../support/errors.js';
import { warnTo } from '../support/logger.js';
import { settlesWithin } from '../support/timing.js';
import { entryLine, gapLine } from './line.js';
import type { InteractionEntry, InteractionLog } from './log.js';
import {
  type InteractionLogOptions,
  type InteractionLogSettings,
  resolveLogOptions,
} from './options.js';

/** An interaction log in a file. */
export interface InteractionLogFile extends InteractionLog {
  append(entry: InteractionEntry): void;
  /** Waits `flushMs` at most: a disk that hangs holds up nobody's end. */
  flush(): Promise<void>;
}

/**
 * An interaction log in a file: one line of JSON for each command, in the order in which they
 * ended. Several logs, in as many processes, may write the same file.
 *
 * @throws {InputError} An option is not valid. A file that cannot be written is no error: the
 *   logger is told, once.
 */
export function createInteractionLog(options: InteractionLogOptions): InteractionLogFile {
  const settings = resolveLogOptions(options);
  return new FileLog(settings, warnTo(options.logger));
}

// Whole lines only: with O_APPEND each write is put at the end of the file in one piece. Without
// O_NONBLOCK a pipe that nobody reads would hold a thread, and with it the end of the host.
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOCTTY |
  constants.O_NONBLOCK;
const MODE = 0o600;
const NEWLINE = 0x0a;

class FileLog implements InteractionLogFile {
  readonly #settings: InteractionLogSettings;
  readonly #warn: (message: string) => void;
  #lines: Buffer[] = [];
  #pendingBytes = 0;
  #writing: Promise<void> | undefined;
  /** Entries that were not written, and of which no line tells yet. */
  #lost = 0;
  /** A write ended in the middle of a line. */
  #torn = false;
  #warned = false;

  constructor(settings: InteractionLogSettings, warn: (message: string) => void) {
    this.#settings = settings;
    this.#warn = warn;
  }

  append(entry: InteractionEntry): void {
    const line = Buffer.from(entryLine(entry, this.#settings.maxCommandBytes), 'utf8');
    const pending = this.#pendingBytes + line.length;
    if (this.#lines.length > 0 && pending > this.#settings.maxPendingBytes) {
      this.#lose(1, 'the disk is too slow');
      return;
    }
    this.#lines.push(line);
    this.#pendingBytes = pending;
    this.#writing ??= this.#drain();
  }

  async flush(): Promise<void> {
    if (this.#writing === undefined) return;
    const written = await settlesWithin(this.#writing, this.#settings.flushMs, 'keepsAlive');
    if (!written) this.#report('the disk does not answer');
  }

  async #drain(): Promise<void> {
    do await this.#write();
    while (this.#lines.length > 0);
    this.#writing = undefined;
  }

  /** Opens the file each time that there is something to write: it may have been moved away. */
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
    const { path } = this.#settings;
    const file = await open(path, FLAGS, MODE);
    const found = await file.stat();
    if (found.isFile() || found.isCharacterDevice()) return file;
    await file.close();
    throw new Error(`${path} is not a file`);
  }

  async #writeNext(file: FileHandle): Promise<void> {
    const [line] = this.#lines;
    if (line === undefined) return;
    const lost = this.#lost;
    const gap = lost === 0 ? '' : gapLine(new Date(), lost);
    const before = (this.#torn ? '\n' : '') + gap;
    const bytes = before === '' ? line : Buffer.concat([Buffer.from(before, 'utf8'), line]);
    const { bytesWritten } = await file.write(bytes, 0, bytes.length);
    if (bytesWritten < bytes.length) {
      if (bytesWritten > 0) this.#torn = bytes[bytesWritten - 1] !== NEWLINE;
      throw new Error('the disk is full');
    }
    this.#torn = false;
    this.#lost -= lost;
    this.#lines.shift();
    this.#pendingBytes -= line.length;
  }

  #lose(count: number, why: string): void {
    this.#lost += count;
    this.#report(why);
  }

  #report(why: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#warn(`interaction log: ${this.#settings.path} cannot be written: ${why}`);
  }
}
