import type { EngineName } from './choice.js';
import type { BackgroundProcess, BaseResult, Capture, SpillReport, StreamName } from './outcome.js';
import type { SandboxReport } from './sandbox-report.js';

/** A command with nothing left to decide. Times in milliseconds, sizes in bytes. */
export interface EngineCommand {
  readonly text: string;
  /** A program and its arguments: they run without a shell, and the text only tells of them. */
  readonly argv: readonly string[] | undefined;
  /** Paths joined by NUL, tried in order; empty: the usual ones. */
  readonly shells: string;
  /** Entries joined by NUL, one character a byte. */
  readonly environment: string;
  /** Absolute; undefined: the host's at the moment of the call. */
  readonly directory: string | undefined;
  /** Tell where it is at its end. */
  readonly follow: boolean;
  /** The host comes first where both want the processors. */
  readonly lowPriority: boolean;
  /** The permissions that its files do not get; undefined: those of the host. */
  readonly umask: number | undefined;
  /** Bytes, a pipe to write to (true), or nothing (false). */
  readonly stdin: boolean | Uint8Array;
  readonly separate: boolean;
  /** A terminal of this size in place of all pipes. */
  readonly terminal: { readonly columns: number; readonly rows: number } | undefined;
  readonly headBytes: number;
  readonly tailBytes: number;
  /** That of its output, if it is not UTF-8: for a host that decodes it. */
  readonly encoding: string | undefined;
  /** Deliver output while it runs. */
  readonly listen: 'text' | 'bytes' | undefined;
  /** Whether the command waits for a slow listener. */
  readonly pause: boolean;
  /** Absolute. */
  readonly spillPath: string | undefined;
  readonly spillMaxBytes: number;
  /** The file is made once a stream is longer; undefined: at the start. */
  readonly spillAfterBytes: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly graceMs: number;
  /** `cgroup.procs` of control groups that it is to enter, joined by NUL; undefined: none. */
  readonly groups: string | undefined;
  /** It is to be ended before anybody else where memory runs out. */
  readonly isSacrificed: boolean;
  /** Processor time that each of its processes may take; 0: any. */
  readonly cpuSeconds: number;
  /** What it is to run in; then it has a directory. */
  readonly sandbox: EngineSandbox | undefined;
}

/** A sandbox with nothing left to decide. Paths are absolute, and exist. */
export interface EngineSandbox {
  /** As native/keeper/src/sandbox/plan.rs reads it. */
  readonly plan: string;
  /** What can be written to. */
  readonly writable: readonly string[];
  /** What can't, although it lies there. */
  readonly kept: readonly string[];
  /** What can't be read. */
  readonly hidden: readonly string[];
  /** What can, although it lies there. */
  readonly shown: readonly string[];
  /** Sockets of others that it may connect to. */
  readonly sockets: readonly string[];
  /** Whether temporary directories are its own. */
  readonly ownTmp: boolean;
  /** Whether it has the network of the host. */
  readonly network: boolean;
  /** Whether it reaches some hosts of that, at this port of its loopback. */
  readonly proxyPort: number | undefined;
}

/** Who is told what happens to a command. No method may throw. */
export interface CommandEvents {
  started?(pid: number): void;
  output?(stream: StreamName, chunks: readonly EngineChunk[]): void;
  ended(end: EngineEnd): void;
}

/** A stretch of output, as text or as bytes. */
export interface EngineChunk {
  readonly data: string | Uint8Array;
  /** Bytes lost just before it. */
  readonly droppedBytes: number;
}

/** How a call to start a command ended. */
export type EngineEnd =
  | { readonly kind: 'neverStarted' }
  | ({ readonly kind: 'failed' } & EngineFailure)
  /** Where it ran can't be reached any more. */
  | { readonly kind: 'lost'; readonly error: Error }
  | ({ readonly kind: 'ran' } & EngineOutcome);

/** Why a command could not be started. */
export interface EngineFailure {
  readonly step: string;
  readonly errno: number;
  readonly subject: string;
  readonly message: string;
}

/** How a command that ran has ended. */
export interface EngineOutcome {
  /** The portable one does not know `userMs`, `systemMs` and `peakBytes`: they are 0 then. */
  readonly engine: EngineName;
  readonly pid: number;
  readonly cause: 'itself' | 'timedOut' | 'cancelled';
  /** An exit code, minus a signal's number, or less than any of them when it is not known. */
  readonly status: number;
  readonly forced: boolean;
  readonly durationMs: number;
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakBytes: number;
  /** The merged output, or stdout and stderr. */
  readonly captures: readonly Capture[];
  readonly background: readonly BackgroundProcess[];
  readonly spill: Omit<SpillReport, 'path'> | undefined;
  /** Where it was at its end, if it was followed and that is known. */
  readonly directory: string | undefined;
  /** Errno of why it has not come after its host; 0: it has, or was not to. */
  readonly share: number;
  /** Each line of its sandbox and by what it was kept, as `write=namespace tmp=none socket=40`. */
  readonly sandbox: string | undefined;
  /** What only the machine could tell on which it ran; absent: that is this one, and was not asked. */
  readonly checked?: Pick<BaseResult, 'outOfMemory' | 'sandbox' | 'spill' | 'limits'>;
}

/** The answer to a request. */
export type EngineReply =
  | { readonly kind: 'done'; readonly value: boolean }
  | { readonly kind: 'captures'; readonly captures: readonly Capture[] | undefined }
  | { readonly kind: 'members'; readonly members: readonly BackgroundProcess[] | undefined }
  | { readonly kind: 'sandbox'; readonly lines: string }
  | { readonly kind: 'detached'; readonly pid: number }
  | ({ readonly kind: 'notDetached' } & EngineFailure)
  | { readonly kind: 'failed'; readonly errno: number; readonly message: string };

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
   * What its sandbox keeps it from, and what the kernel has told of denials since this was asked last;
   * undefined: it is over, or in none. Absent where nobody could tell.
   */
  sandbox?(): Promise<SandboxReport | undefined>;
  /**
   * Resolves when nobody of it is left, and does not keep the host alive for that; false: nobody can
   * tell any more. To be asked while it runs; `members()` and `cancel()` then work until it resolves.
   */
  gone(): Promise<boolean>;
}
