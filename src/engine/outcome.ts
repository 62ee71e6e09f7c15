import type { EngineName } from './choice.js';
import type { ExecutedProgram } from './executed.js';
import type { Denial, Held, SandboxReport } from './sandbox-report.js';
import type { LimitsReport } from './told/limits-report.js';
import type { TimeoutReason } from './told/timeout-reason.js';
import type { Changes, HeldChanges } from './undo/changes.js';

/** How the process itself ended, whatever caused it. */
export type Ending =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals }
  /** Its status is not known: it survived SIGKILL, or its parent was killed. */
  | { readonly kind: 'unknown' }
  /** The deadline or the cancellation came before the launch. */
  | { readonly kind: 'neverStarted' };

/**
 * Why and how a command ended. A command that fails is an outcome, not an exception.
 *
 * A deadline or a cancellation takes precedence over the process's own end after it: a command that traps
 * SIGTERM and exits 0 has `timedOut`, and its own exit code is in `ending`.
 */
export type Outcome =
  /** The command ended by itself. `exitCode` is 0 to 255, as the shell reports it. */
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** A signal not sent by forkline ended it; real-time signals are named as in bash, `SIGRTMIN+1`. */
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals }
  /** The status is not known, because the command's parent, a process of forkline, was killed. */
  | { readonly kind: 'unknown' }
  /** The deadline passed. `forced`: SIGTERM was not enough and SIGKILL was sent. */
  | {
      readonly kind: 'timedOut';
      /** The time limit, in milliseconds. */
      readonly timeoutMs: number;
      /** Whether SIGTERM was not enough, and SIGKILL was sent. */
      readonly forced: boolean;
      /** How its process ended. */
      readonly ending: Ending;
      /** What kept it from ending in time; absent: nothing was seen that tells. */
      readonly reason?: TimeoutReason;
    }
  /** The command was cancelled. */
  | {
      readonly kind: 'cancelled';
      /** The source of the cancellation. */
      readonly by: Canceller;
      /** Whether SIGTERM was not enough, and SIGKILL was sent. */
      readonly forced: boolean;
      /** How its process ended. */
      readonly ending: Ending;
    };

/**
 * The source of a cancellation: `signal`, the caller's AbortSignal; `owner`, which was disposed of (a
 * tool's `dispose()` does that); `kill`, the method of a live process.
 */
export type Canceller = 'signal' | 'owner' | 'kill';

/**
 * Whether the kernel ended a process for lack of memory. `yes`: in the command's own control group, which
 * is proof. For a command that an unknown SIGKILL ended: the host's control group has counted such an end
 * (`likely`), or none (`no`), or cannot be read (`unknown`).
 */
export type OutOfMemory = 'yes' | 'likely' | 'no' | 'unknown';

/** Sizes of a piece of output. */
export interface Counts {
  /** Bytes as the command wrote them; for another encoding than UTF-8, the bytes of the text in UTF-8. */
  readonly bytes: number;
  /** Unicode code points of the decoded text; each invalid sequence counts as its U+FFFD. */
  readonly characters: number;
  /** Lines; a last line without a newline counts, a final newline does not begin another. */
  readonly lines: number;
}

/**
 * The kept part of one stream. The counts are of all that the command printed; `lossy` says that the text
 * differs from the exact bytes: some were not text and became U+FFFD, or NUL became `␀`, because JSON
 * carries NUL but databases and terminals do not.
 */
export type Capture =
  | {
      readonly kind: 'complete';
      /** The whole text. */
      readonly text: string;
      /** Size of the whole stream. */
      readonly total: Counts;
      /** Whether some bytes were no text, and are U+FFFD in it. */
      readonly lossy: boolean;
    }
  /**
   * The middle was dropped. `head` and `tail` begin and end at character boundaries, not necessarily at
   * line boundaries. `dropped.lines` counts the dropped newlines.
   */
  | {
      readonly kind: 'cut';
      /** The beginning. */
      readonly head: string;
      /** The end. */
      readonly tail: string;
      /** Size of the dropped middle. */
      readonly dropped: Counts;
      /** Size of the whole stream. */
      readonly total: Counts;
      /** Bytes of the last line, without its newline. */
      readonly lastLineBytes: number;
      /** Whether some bytes were no text, and are U+FFFD in it. */
      readonly lossy: boolean;
    };

/** A process of the command that was still alive when the command itself had ended. */
export interface BackgroundProcess {
  /** Its process id. */
  readonly pid: number;
  /** `kill -9 -- -<processGroup>` stops it and its group. */
  readonly processGroup: number;
  /** Its command line, as the kernel reports it. */
  readonly command: string;
}

/** Why the full output could not, or only partly, be written to disk. */
export interface SpillError {
  /** The system's name for the error, such as `ENOSPC`. */
  readonly code: string;
  /** The system's number for it. */
  readonly errno: number;
  /** What went wrong, for people. */
  readonly message: string;
}

/** The file with the full output. */
export interface SpillReport {
  /** Absolute path of the file. */
  readonly path: string;
  /** Bytes written to the file, unchanged, from the first on. */
  readonly bytes: number;
  /** Bytes not written, because of `maxBytes` or of `error`. */
  readonly dropped: number;
  /**
   * Present when writing failed (`ELOOP`: a link was at the path), or when the file is no longer as it
   * was written: `ENOENT`, it was removed; `EIO`, it has another size; `EBUSY`, another command of this
   * process wrote it at the same time. The command went on regardless.
   */
  readonly error?: SpillError;
}

/**
 * Peak resident memory of the command: of the largest of its processes, the shell included. A figure
 * below some 2 MiB is that of the process that starts commands.
 */
export interface PeakMemory {
  readonly kind: 'measured';
  /** Bytes. */
  readonly bytes: number;
}

/** The fields of every result, however the streams were kept. */
export interface BaseResult {
  /** The command's text, as it was given. */
  readonly command: string;
  /** Process id; also the id of its process group and its session. 0 when it never started. */
  readonly pid: number;
  /** How the command ended. */
  readonly outcome: Outcome;
  /** Time from the launch to the end, in milliseconds. */
  readonly durationMs: number;
  /**
   * The engine that ran the command. `portable` knows less: it does not measure `cpu` and `peakMemory`,
   * and cannot find processes that have left the command's group; see docs/portable.md.
   */
  readonly engine: EngineName;
  /**
   * CPU time of the command and of the children that it waited for, in milliseconds. Absent when the
   * engine cannot measure it.
   */
  readonly cpu?: { readonly userMs: number; readonly systemMs: number };
  /** Absent when the engine cannot measure it. */
  readonly peakMemory?: PeakMemory;
  /** Present when a spill file was requested and, with `afterBytes`, created. */
  readonly spill?: SpillReport;
  /**
   * Present when a SIGKILL that forkline did not send ended the command, or its exit code (137) says so
   * of its last program; and with `limits.memoryBytes` whenever a process was ended for that.
   */
  readonly outOfMemory?: OutOfMemory;
  /**
   * The processes that still run. Their output is drained, and they are ended when the command's owner is
   * disposed of. With the native engine these are all; with the portable one, those of the command's
   * process group.
   */
  readonly background: readonly BackgroundProcess[];
  /**
   * The last working directory of the command's shell, symlinks resolved, if that was requested and is
   * known. A removed one has ` (deleted)` after its name.
   */
  readonly directory?: string;
  /** Why the command's priority was not, or not surely, lowered; present when `priority: 'low'` failed. */
  readonly notLowered?: NotLowered;
  /** The report on its sandbox; present when it was in one. */
  readonly sandbox?: SandboxReport;
  /**
   * The programs that it has executed or was denied, in the order of the decisions; present when the policy of its
   * sandbox has `exec`. At most 1,000 that were allowed, of 64 KiB, and 256 that were denied.
   */
  readonly executed?: readonly ExecutedProgram[];
  /** The number of programs that are not in `executed`; absent: none. */
  readonly moreExecuted?: number;
  /**
   * The changes that its sandbox has held back: they are not in effect, and can be accepted or dropped. Empty:
   * none, or it had no sandbox.
   */
  readonly heldBack: readonly Held[];
  /**
   * What it has changed; present when its sandbox has `undo`, and that is in force, or has `changes` other than
   * 'apply'.
   */
  readonly changes?: Changes | HeldChanges;
  /** How its limits were enforced; present when it had some. */
  readonly limits?: LimitsReport;
  /** Present when this is its second run, since `onDenied` allowed more after the first. */
  readonly firstRun?: FirstRun;
}

/** The run of a command before the one that the result is of. Its effects remain. */
export interface FirstRun {
  /** How it ended. */
  readonly outcome: Outcome;
  /** Time from its launch to its end, in milliseconds. */
  readonly durationMs: number;
  /** The accesses that it was denied. */
  readonly denials: readonly Denial[];
  /** Its processes that still run. */
  readonly background: readonly BackgroundProcess[];
}

/** Why a command's priority could not be lowered. */
export interface NotLowered {
  /** The system's name for the error: `EAGAIN` for a user who has started too many at once. */
  readonly code: string;
  /** The system's number for it. */
  readonly errno: number;
}

/** A result with stdout and stderr in one stream, in the order in which they were written. */
export interface MergedResult extends BaseResult {
  /** The merged output, or the kept part of it. */
  readonly output: Capture;
}

/** A result with separate stdout and stderr. */
export interface SeparateResult extends BaseResult {
  /** The kept part of stdout. */
  readonly stdout: Capture;
  /** The kept part of stderr. */
  readonly stderr: Capture;
}

/** The result of one command, with its output. */
export type RunResult = MergedResult | SeparateResult;

/** The stream of a chunk: `output` when the streams are merged. */
export type StreamName = 'output' | 'stdout' | 'stderr';

/** New text of a running command. Text is never split inside a character. */
export interface OutputChunk {
  /** The stream that the text is from. */
  readonly stream: StreamName;
  /** The new text. */
  readonly text: string;
  /** Bytes that were skipped before `text`, because the reader was too slow. */
  readonly droppedBytes: number;
}

/** New output of a running command as the bytes it wrote. */
export interface BytesChunk {
  /** The stream that the bytes are from. */
  readonly stream: StreamName;
  /** The new bytes, as they were written. */
  readonly bytes: Uint8Array;
  /** Bytes that were skipped before `bytes`; always 0 with `overflow: 'pause'`. */
  readonly droppedBytes: number;
}
