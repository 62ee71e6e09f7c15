import { LineFile } from '../support/line-file.js';
import { warnTo } from '../support/logger.js';
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
  /**
   * Waits until the appended entries are written, `flushMs` at most: a disk that hangs must not delay the
   * host's exit.
   */
  flush(): Promise<void>;
}

/**
 * Creates an interaction log in a file: one line of JSON for each command, in the order in which they
 * ended. Several logs, in several processes, may write the same file.
 *
 * @throws {InputError} An option is not valid. A file that cannot be written is no error: the logger is
 * told once.
 */
export function createInteractionLog(options: InteractionLogOptions): InteractionLogFile {
  const settings = resolveLogOptions(options);
  return new FileLog(settings, warnTo(options.logger));
}

class FileLog implements InteractionLogFile {
  readonly #settings: InteractionLogSettings;
  readonly #file: LineFile;

  constructor(settings: InteractionLogSettings, warn: (message: string) => void) {
    const { path, maxPendingBytes } = settings;
    this.#settings = settings;
    this.#file = new LineFile({
      path,
      maxPendingBytes,
      warn: (why) => warn(`interaction log: ${path} cannot be written: ${why}`),
    });
  }

  append(entry: InteractionEntry): void {
    const line = entryLine(entry, this.#settings.maxCommandBytes);
    this.#file.append((lost) => (lost === 0 ? line : gapLine(new Date(), lost) + line));
  }

  flush(): Promise<void> {
    return this.#file.flush(this.#settings.flushMs);
  }
}
