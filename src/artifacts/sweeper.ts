import { messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { settlesWithin } from '../support/timing.js';
import { type SweepLimits, sweep } from './sweep.js';

/** The interval at which old artifacts are removed, unless their total size makes a sweep due before. */
const INTERVAL_MS = 3600 * 1000;
/** Sweeping takes at most one part in so many of a store's time, however large it is. */
const SHARE = 10;

/**
 * Keeps a directory within its limits: in the background of calls, whose cost does not grow with the
 * number of artifacts, and only when a sweep is due.
 */
export class Sweeper {
  readonly #limits: SweepLimits;
  /** Called with the paths of removed artifacts. */
  readonly #removed: (paths: readonly string[]) => void;
  /** Bytes that the last sweep left, and that were published since. */
  #totalBytes = 0;
  #newest: string | undefined;
  #isDue = false;
  #notBefore = 0;
  #lastAt = 0;
  #running: Promise<void> | undefined;
  #stopped = false;
  #warned = false;

  constructor(limits: SweepLimits, removed: (paths: readonly string[]) => void) {
    this.#limits = limits;
    this.#removed = removed;
  }

  /** Starts with a directory that may have been used before. */
  begin(directory: string): void {
    this.#isDue = true;
    this.#start(directory);
  }

  /** Counts a published artifact, and sweeps if that is due. */
  published(directory: string, path: string, bytes: number): void {
    this.#newest = path;
    this.#totalBytes += bytes;
    const isLongAgo = performance.now() - this.#lastAt > INTERVAL_MS;
    this.#isDue ||= isLongAgo || this.#totalBytes > this.#limits.maxTotalBytes;
    if (performance.now() >= this.#notBefore) this.#start(directory);
  }

  /** Resolves when no sweep is running or due. */
  async finish(directory: string): Promise<void> {
    while (this.#running !== undefined || (this.#isDue && !this.#stopped)) {
      this.#start(directory);
      await this.#running;
    }
  }

  /**
   * Resolves when the sweeper has stopped.
   *
   * @param withinMs Time for sweeps that are still due.
   */
  async stop(directory: string, withinMs: number): Promise<void> {
    if (withinMs > 0) await settlesWithin(this.finish(directory), withinMs);
    this.#stopped = true;
    await this.#running;
  }

  #start(directory: string): void {
    if (!this.#isDue || this.#stopped || this.#running !== undefined) return;
    this.#isDue = false;
    this.#running = this.#sweep(directory).finally(() => {
      this.#running = undefined;
    });
  }

  /** Never rejects: a directory that cannot be swept still takes artifacts. */
  async #sweep(directory: string): Promise<void> {
    const startedAt = performance.now();
    this.#lastAt = startedAt;
    const before = this.#totalBytes;
    try {
      const goesOn = (): boolean => !this.#stopped;
      const swept = await sweep(directory, this.#limits, { spared: this.#newest, goesOn });
      // An artifact that was published meanwhile may be counted twice, until the next sweep.
      this.#totalBytes = swept.totalBytes + (this.#totalBytes - before);
      this.#removed(swept.removed);
    } catch (error) {
      if (!this.#warned) warnHost(`old artifacts in ${directory} stay: ${messageOf(error)}`);
      this.#warned = true;
    }
    const endedAt = performance.now();
    this.#notBefore = endedAt + (endedAt - startedAt) * SHARE;
  }
}
