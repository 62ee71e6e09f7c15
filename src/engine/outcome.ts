import type { EngineName } from './choice.js';
import type { Denial, SandboxReport } from './sandbox-report.js';

/** How the process itself stopped, whoever caused it. */
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
 * A deadline or a cancellation wins over what the process did while it was being ended: a command
 * that traps SIGTERM and exits 0 has `timedOut`, and its own exit code is in `ending`.
 */
export type Outcome =
  /** It ended by itself. `exitCode` is 0 to 255, as the shell reports it. */
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** A signal that we did not send ended it; real-time ones are named as bash does, `SIGRTMIN+1`. */
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals }
  /** Its status is not known, because its parent, a process of forkline's, was killed. */
  | { readonly kind: 'unknown' }
  /** Its deadline passed. `forced` says that SIGTERM was not enough and SIGKILL was sent. */
  | {
      readonly kind: 'timedOut';
      /** The limit that has passed, in milliseconds. */
      readonly timeoutMs: number;
      /** SIGTERM was not enough, and SIGKILL was sent. */
      readonly forced: boolean;
      /** What its process did in the end. */
      readonly ending: Ending;
    }
  /** Somebody has ended it. */
  | {
      readonly kind: 'cancelled';
      /** Who has ended it. */
      readonly by: Canceller;
      /** SIGTERM was not enough, and SIGKILL was sent. */
      readonly forced: boolean;
      /** What its process did in the end. */
      readonly ending: Ending;
    };

/**
 * Who ended a command: `signal`, the caller's AbortSignal; `owner`, which was disposed of (a tool's
 * `dispose()` does that); `kill`, that of a live process.
 */
export type Canceller = 'signal' | 'owner' | 'kill';

/**
 * Whether the kernel ended a process for want of memory: in the command's own control group, which is
 * proof (`yes`). Else of a command that somebody's SIGKILL ended: the control group of the host has
 * counted such an end (`likely`), or none (`no`), or cannot be asked.
 */
export type OutOfMemory = 'yes' | 'likely' | 'no' | 'unknown';

/** Sizes of a piece of output. */
export interface Counts {
  /** Bytes as the command wrote them; of text in another encoding, those it has in UTF-8. */
  readonly bytes: number;
  /** Unicode code points of the decoded text; each invalid sequence counts as its U+FFFD. */
  readonly characters: number;
  /** Lines; a last line without a newline counts, a final newline does not begin another. */
  readonly lines: number;
}

/**
 * What was kept of one stream. The counts are of everything the command printed; `lossy` says that
 * the text is not the exact bytes: some were not text and stand as U+FFFD, or NUL, which stands as
 * `␀` because JSON carries it but databases and terminals do not.
 */
export type Capture =
  | {
      readonly kind: 'complete';
      /** All of it. */
      readonly text: string;
      /** How much that is. */
      readonly total: Counts;
      /** Some bytes were no text, and are U+FFFD in it. */
      readonly lossy: boolean;
    }
  /**
   * The middle was dropped. `head` and `tail` begin and end at character boundaries, not
   * necessarily at line boundaries. `dropped.lines` are the newlines that went with it.
   */
  | {
      readonly kind: 'cut';
      /** Its beginning. */
      readonly head: string;
      /** Its end. */
      readonly tail: string;
      /** How much is missing between them. */
      readonly dropped: Counts;
      /** How much was printed. */
      readonly total: Counts;
      /** Bytes of the last line, without its newline. */
      readonly lastLineBytes: number;
      /** Some bytes were no text, and are U+FFFD in it. */
      readonly lossy: boolean;
    };

/** A process of the command that was still alive when the command itself had ended. */
export interface BackgroundProcess {
  /** Its process id. */
  readonly pid: number;
  /** `kill -9 -- -<processGroup>` stops it and its group. */
  readonly processGroup: number;
  /** Its command line, as the kernel tells it. */
  readonly command: string;
}

/** Why the full output could not be, or not wholly be, written to disk. */
export interface SpillError {
  /** The system's name for the error, such as `ENOSPC`. */
  readonly code: string;
  /** The system's number for it. */
  readonly errno: number;
  /** What went wrong, for people. */
  readonly message: string;
}

/** What became of the full output on disk. */
export interface SpillReport {
  /** Absolute path of the file. */
  readonly path: string;
  /** Bytes written to the file, exact bytes, from the first on. */
  readonly bytes: number;
  /** Bytes not written, because of `maxBytes` or of `error`. */
  readonly dropped: number;
  /**
   * Present when writing failed (`ELOOP`: a link was in its place), or when the file is not what was
   * written: `ENOENT`, it was removed meanwhile; `EIO`, it has another size; `EBUSY`, another command
   * of this process wrote it at the same time. The command went on regardless.
   */
  readonly error?: SpillError;
}

/**
 * Peak resident memory of the command: of the largest of its processes, the shell included. What is
 * less than 2 MiB or so is the kernel's figure for what starts a command.
 */
export interface PeakMemory {
  readonly kind: 'measured';
  /** Bytes. */
  readonly bytes: number;
}

/** What every result has, however the streams were kept. */
export interface BaseResult {
  /** The command's text, as it was given. */
  readonly command: string;
  /** Process id; also the id of its process group and its session. 0 when it never started. */
  readonly pid: number;
  /** How it ended. */
  readonly outcome: Outcome;
  /** Time from the launch to the end, in milliseconds. */
  readonly durationMs: number;
  /**
   * What has run it. `portable` knows less: it does not measure `cpu` and `peakMemory`, and can't
   * look for processes that have left the command's group; see docs/portable.md.
   */
  readonly engine: EngineName;
  /**
   * CPU time of the command and of the children that it waited for, in milliseconds. Absent when the
   * engine can't measure it.
   */
  readonly cpu?: { readonly userMs: number; readonly systemMs: number };
  /** Absent when the engine can't measure it. */
  readonly peakMemory?: PeakMemory;
  /** Present when a spill file was asked for and, with `afterBytes`, made. */
  readonly spill?: SpillReport;
  /**
   * Present when a SIGKILL that nobody here sent has ended it, or the exit code (137) says so of its
   * last program; and with `limits.memoryBytes` whenever a process was ended for that.
   */
  readonly outOfMemory?: OutOfMemory;
  /**
   * What still runs. It is drained, and ended when the command's owner is disposed. With the native
   * engine these are all; with the portable one, those of the command's process group.
   */
  readonly background: readonly BackgroundProcess[];
  /**
   * Where the command's shell was at its end, symlinks resolved, if that was asked for and can be
   * told. One that has been removed has ` (deleted)` after its name.
   */
  readonly directory?: string;
  /** Why it has not, or not surely, come after its host; present when `priority: 'low'` could not be had. */
  readonly notLowered?: NotLowered;
  /** What its sandbox has kept it from; present when it was in one. */
  readonly sandbox?: SandboxReport;
  /** By what its limits were kept; present when it had some. */
  readonly limits?: LimitsReport;
  /** Present when this is its second run, since `onDenied` has allowed more after the first. */
  readonly firstRun?: FirstRun;
}

/** The run of a command before the one that a result is of. What it did stays done. */
export interface FirstRun {
  /** How it ended. */
  readonly outcome: Outcome;
  /** Time from its launch to its end, in milliseconds. */
  readonly durationMs: number;
  /** What it was denied. */
  readonly denials: readonly Denial[];
  /** What of it still runs. */
  readonly background: readonly BackgroundProcess[];
}

/** Why a command's priority may be its host's. */
export interface NotLowered {
  /** The system's name for the error: `EAGAIN` for a user who has started too many at once. */
  readonly code: string;
  /** The system's number for it. */
  readonly errno: number;
}

/** A result with stdout and stderr in one stream, in the order in which they were written. */
export interface MergedResult extends BaseResult {
  /** Both, or what is kept of them. */
  readonly output: Capture;
}

/** A result with stdout and stderr apart. */
export interface SeparateResult extends BaseResult {
  /** What is kept of stdout. */
  readonly stdout: Capture;
  /** What is kept of stderr. */
  readonly stderr: Capture;
}

/** How one command ended, and what it printed. */
export type RunResult = MergedResult | SeparateResult;

/** Where a chunk comes from: `output` when the streams are merged. */
export type StreamName = 'output' | 'stdout' | 'stderr';

/** New text of a running command. Text is never split inside a character. */
export interface OutputChunk {
  /** Where it comes from. */
  readonly stream: StreamName;
  /** What is new. */
  readonly text: string;
  /** Bytes that were skipped before `text`, because the reader was too slow. */
  readonly droppedBytes: number;
}

/** New output of a running command as the bytes it wrote. */
export interface BytesChunk {
  /** Where they come from. */
  readonly stream: StreamName;
  /** What is new, as it was written. */
  readonly bytes: Uint8Array;
  /** Bytes that were skipped before `bytes`; always 0 with `overflow: 'pause'`. */
  readonly droppedBytes: number;
}

/**
 * By what each of a command's limits was kept: a control group of its own, or a limit of each of its
 * processes. `oom-score`: there could be no group, and it could take more than `memoryBytes`; but the
 * kernel, when the machine or the host's own group runs out of memory, ends it before the host.
 */
export interface LimitsReport {
  /** Absent: there was no such limit. */
  readonly memoryBytes?: 'group' | 'oom-score';
  /** Absent: there was no such limit. */
  readonly processes?: 'group';
  /** Absent: there was no such limit. */
  readonly cpuSeconds?: 'rlimit';
}
