import { messageOf } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { settlesWithin } from '../support/timing.js';
import { type SweepLimits, sweep } from './sweep.js';

/** Old artifacts go that often, should the size of all give no reason before. */
const INTERVAL_MS = 3600 * 1000;
/** Of a store's time at most one part in so many is spent on sweeping, however large it is. */
const SHARE = 10;

/**
 * Keeps a directory within its limits: beside the calls, whose cost does not grow with what is
 * there, and only when there is a reason.
 */
export class Sweeper {
  readonly #limits: SweepLimits;
  /** Is told what has gone. */
  readonly #removed: (paths: readonly string[]) => void;
  /** Bytes that the last sweep has left, and that were published since. */
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

  /** The store begins to use a directory that may have been used before. */
  begin(directory: string): void {
    this.#isDue = true;
    this.#start(directory);
  }

  /** An artifact is there. */
  published(directory: string, path: string, bytes: number): void {
    this.#newest = path;
    this.#totalBytes += bytes;
    const isLongAgo = performance.now() - this.#lastAt > INTERVAL_MS;
    this.#isDue ||= isLongAgo || this.#totalBytes > this.#limits.maxTotalBytes;
    if (performance.now() >= this.#notBefore) this.#start(directory);
  }

  /** Resolves when nothing is there that should not be. */
  async finish(directory: string): Promise<void> {
    while (this.#running !== undefined || (this.#isDue && !this.#stopped)) {
      this.#start(directory);
      await this.#running;
    }
  }

  /**
   * Resolves when it touches nothing any more.
   *
   * @param withinMs Time for what is still to be removed.
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

  /** Never rejects: a directory that cannot be swept still keeps what comes. */
  async #sweep(directory: string): Promise<void> {
    const startedAt = performance.now();
    this.#lastAt = startedAt;
    const before = this.#totalBytes;
    try {
      const goesOn = (): boolean => !this.#stopped;
      const swept = await sweep(directory, this.#limits, { spared: this.#newest, goesOn });
      // What was published meanwhile may be counted twice, until the next one.
      this.#totalBytes = swept.totalBytes + (this.#totalBytes - before);
      this.#removed(swept.removed);
    } catch (error) {
      if (!this.#warned) warnHost(`artifacts in ${directory} are not swept: ${messageOf(error)}`);
      this.#warned = true;
    }
    const endedAt = performance.now();
    this.#notBefore = endedAt + (endedAt - startedAt) * SHARE;
  }
}
