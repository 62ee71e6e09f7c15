import type { Typing } from '../engine/message.js';
import type { BackgroundProcess } from '../engine/outcome.js';
import type { TerminalSize } from '../options/terminal.js';
import type { Receipt } from '../receipt/receipt.js';

/** The state of a task's command. Times are epoch milliseconds. */
export type SubjectState =
  | {
      readonly kind: 'running';
      /** Why it can't be asked how it is, as far as is known; absent: it can. */
      readonly trouble?: string;
    }
  /** The command itself has ended; processes of it still run. */
  | { readonly kind: 'left'; readonly receipt: Receipt; readonly endedAt: number }
  /** No process of the command is left. Without a receipt it was never started. */
  | { readonly kind: 'ended'; readonly receipt: Receipt | undefined; readonly endedAt: number }
  /** The command's state cannot be found out. */
  | { readonly kind: 'lost'; readonly reason: string };

/** A stretch of output. */
export interface OutputStretch {
  /** The printed bytes. */
  readonly bytes: Uint8Array;
  /** Position of the first byte from the start of the output; larger than requested when there is a gap. */
  readonly from: number;
  /** Bytes printed so far. */
  readonly total: number;
}

/**
 * A task's command, as its followers use it: one of this process, or a detached one. Times are epoch
 * milliseconds, sizes bytes.
 */
export interface TaskSubject {
  /** The command's current state. */
  readonly state: SubjectState;
  /** When it last printed, or began, in milliseconds since 1970. */
  readonly quietSince: number;
  /** Whether it has a stdin, or a terminal, that can be written to; undefined: that is known only elsewhere. */
  readonly takesInput: boolean | undefined;
  /** Size of its terminal, if it has one. */
  readonly terminal: TerminalSize | undefined;
  /** The file with all of its output, if there is one. */
  readonly outputFile: string | undefined;
  /** Whether positions of the output are those of the file's bytes. Default: true. */
  readonly isExact?: boolean;
  /** Whether its processes and files are on another machine. Default: false. */
  readonly isElsewhere?: boolean;
  /**
   * Calls `told` when there is more output or another state, without saying which.
   *
   * @returns A function that stops the calls. Watching does not keep the host alive.
   */
  watch(told: () => void): () => void;
  /** Reads its output from a position on, at most `maxBytes`; from the oldest byte that is still kept. */
  read(since: number, maxBytes: number): Promise<OutputStretch>;
  /** Lists its current processes; undefined when they could not be examined. */
  members(): Promise<readonly BackgroundProcess[] | undefined>;
  /**
   * Resolves once the bytes are in its stdin, or typed into its terminal.
   *
   * @throws {InputError} The command has no stdin to write to.
   * @throws Error with `code: 'EPIPE'`: no process can read it any more.
   */
  write(data: Uint8Array): Promise<void>;
  /** Gives its terminal another size. Absent: it has none, or that cannot be done from here. */
  resize?(size: TerminalSize): void;
  /**
   * Returns how its terminal takes what is typed; undefined without a terminal, or when it has ended.
   * Absent: that cannot be known.
   */
  typing?(): Promise<Typing | undefined>;
  /**
   * Returns whether this process is the one to answer what programs ask their terminal: several may show it.
   * Absent: it is.
   */
  mayAnswer?(): Promise<boolean>;
  /** Closes its stdin, once all data is written. */
  closeInput(): void;
  /** Signals its process group. Returns false when the command has ended. */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /**
   * Ends all of its processes with SIGTERM, grace period, SIGKILL; resolves when no process is left, or
   * none of the rest can be ended.
   */
  end(graceMs?: number): Promise<void>;
}
