import type { BackgroundProcess, Capture } from './outcome.js';

/** What can be done with a command under way. None of it throws when it is over. */
export interface CommandHandle {
  /** Ends it: SIGTERM, grace, SIGKILL. `graceMs` in place of its own. */
  cancel(graceMs?: number): void;
  /** Its listener can take another delivery. */
  resume(): void;
  /** Its listener has left, and no longer holds it up. */
  detach(): void;
  /** Resolves once the bytes are in the pipe; rejects when nobody can read them any more. */
  write(bytes: Uint8Array): Promise<void>;
  /** End of file, once all is written. */
  endInput(): void;
  /** Its terminal has another size from now on. */
  resize(columns: number, rows: number): void;
  /** Signals its process group; false when it is over. */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /** Whether the host stays alive until it is over. It does unless it is told otherwise. */
  holdHost(holds: boolean): void;
  /** What it has printed so far; undefined when it is over. */
  snapshot(): Promise<readonly Capture[] | undefined>;
  /** Who of it runs now; undefined: that could not be looked at. */
  members(): Promise<readonly BackgroundProcess[] | undefined>;
  /**
   * Resolves when nobody of it is left, and does not keep the host alive for that; false: nobody can
   * tell any more. To be asked while it runs; `members()` and `cancel()` then work until it resolves.
   */
  gone(): Promise<boolean>;
}
