import type { BackgroundProcess } from '../engine/outcome.js';
import type { TerminalSize } from '../options/terminal.js';
import type { Receipt } from '../receipt/receipt.js';

/** How a task's command stands. Times are epoch milliseconds. */
export type SubjectState =
  | { readonly kind: 'running' }
  /** The command itself has ended; processes of it still run. */
  | { readonly kind: 'left'; readonly receipt: Receipt; readonly endedAt: number }
  /** Nobody of it is left. Without a receipt it was never started. */
  | { readonly kind: 'ended'; readonly receipt: Receipt | undefined; readonly endedAt: number }
  /** Nobody can tell how it ended, or whether it has. */
  | { readonly kind: 'lost'; readonly reason: string };

/** A stretch of output. */
export interface OutputStretch {
  /** The bytes, as they were printed. */
  readonly bytes: Uint8Array;
  /** Position of its first byte from the start of the output; larger than asked for: a gap. */
  readonly from: number;
  /** Bytes printed so far. */
  readonly total: number;
}

/**
 * What a task's command is to those who follow it: one of this process, or one that is detached.
 * Times are epoch milliseconds, sizes bytes.
 */
export interface TaskSubject {
  /** How it stands now. */
  readonly state: SubjectState;
  /** When it last printed, or began, in milliseconds since 1970. */
  readonly quietSince: number;
  /** Its terminal's size, if it runs on one. */
  readonly terminal: TerminalSize | undefined;
  /** The file with all of its output, if there is one. */
  readonly outputFile: string | undefined;
  /**
   * Tells that there is more output or another state, without saying what.
   *
   * @returns Stops it. It does not keep the host alive.
   */
  watch(told: () => void): () => void;
  /** What it has printed from a position on, at most so much; from the oldest that is still there. */
  read(since: number, maxBytes: number): Promise<OutputStretch>;
  /** Its processes now; undefined: they could not be looked at. */
  members(): Promise<readonly BackgroundProcess[] | undefined>;
  /**
   * Resolves once the bytes are in its stdin, or typed into its terminal.
   *
   * @throws {InputError} It has no stdin to write to.
   * @throws Error with `code: 'EPIPE'`: nobody can read it any more.
   */
  write(data: Uint8Array): Promise<void>;
  /** Closes its stdin, once everything is written. */
  closeInput(): void;
  /** Signals its process group; false: it has ended. */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /** SIGTERM, grace, SIGKILL for all of it; resolves when nobody is left, or nobody can be ended. */
  end(graceMs?: number): Promise<void>;
}
