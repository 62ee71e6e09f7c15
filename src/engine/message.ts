import type { EngineName } from './choice.js';
import type { OnExec } from './exec/exec-request.js';
import type { BackgroundProcess, BaseResult, Capture, SpillReport, StreamName } from './outcome.js';
import type { EngineReport, HeldFacts } from './sandbox-report.js';
import type { ChangeFacts } from './undo/changes.js';

/** A command with all options decided. Times in milliseconds, sizes in bytes. */
export interface EngineCommand {
  readonly text: string;
  /** A program and its arguments, which run without a shell; the text only describes them. */
  readonly argv: readonly string[] | undefined;
  /** Paths joined by NUL, tried in order; empty: the usual ones. */
  readonly shells: string;
  /** Entries joined by NUL, one character a byte. */
  readonly environment: string;
  /** Absolute path; undefined: the host's working directory at the moment of the call. */
  readonly directory: string | undefined;
  /** Whether to report the shell's last working directory. */
  readonly follow: boolean;
  /** Whether its priority is below its host's. */
  readonly lowPriority: boolean;
  /** The most young commands beside which it is started; undefined: what is usual. */
  readonly startsAtOnce: number | undefined;
  /** The umask; undefined: that of the host. */
  readonly umask: number | undefined;
  /** Bytes, a pipe to write to (true), or nothing (false). */
  readonly stdin: boolean | Uint8Array;
  readonly separate: boolean;
  /** Size of a terminal that replaces all pipes. */
  readonly terminal: { readonly columns: number; readonly rows: number } | undefined;
  readonly headBytes: number;
  readonly tailBytes: number;
  /** The encoding of its output, if it is not UTF-8: for a host that decodes it. */
  readonly encoding: string | undefined;
  /** Whether output is delivered while the command runs, and in which form. */
  readonly listen: 'text' | 'bytes' | undefined;
  /** Whether the command waits for a slow listener. */
  readonly pause: boolean;
  /** Absolute path. */
  readonly spillPath: string | undefined;
  readonly spillMaxBytes: number;
  /** The file is created once a stream is longer; undefined: at the start. */
  readonly spillAfterBytes: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly graceMs: number;
  /** `cgroup.procs` of control groups for it to enter, joined by NUL; undefined: none. */
  readonly groups: string | undefined;
  /** Whether the kernel ends it before other processes when memory runs out. */
  readonly isSacrificed: boolean;
  /** CPU time limit of each of its processes; 0: none. */
  readonly cpuSeconds: number;
  /** The sandbox that it runs in; then `directory` is set. */
  readonly sandbox: EngineSandbox | undefined;
}

/** A command that outlives the host, with all options decided. */
export interface DetachedCommand {
  readonly text: string;
  /** Paths joined by NUL, tried in order; empty: the usual ones. */
  readonly shells: string;
  /** Entries joined by NUL, one character a byte. */
  readonly environment: string;
  /** Absolute path. */
  readonly directory: string;
  /**
   * The file for its output, absolute; must not exist. Created with mode 0600. Its keeper's record and
   * socket are beside it, with `.state` and `.socket` after its name.
   */
  readonly outputPath: string;
  /** The most bytes of output that are kept; the rest is cut off. */
  readonly outputQuota: number;
  /** Time limit from its start, in milliseconds, or Infinity; then the command is ended. */
  readonly timeoutMs: number;
  /** Time from SIGTERM to SIGKILL, in milliseconds. */
  readonly graceMs: number;
  /** Whether it has a stdin that can be written to, by that socket; otherwise its stdin is empty. */
  readonly hasInput: boolean;
  /** Size of its terminal, which its keeper holds, in place of a stdin and an output. */
  readonly terminal: EngineCommand['terminal'];
  /** Whether its outcome is written below its output. */
  readonly completionLine: boolean;
  /** Whether the host gets most of the processors where both want them. */
  readonly lowPriority: boolean;
  /** The most young commands beside which it is started; undefined: what is usual. */
  readonly startsAtOnce: number | undefined;
  /** The permissions that its files do not get; undefined: those of the host. */
  readonly umask: number | undefined;
  /** The sandbox that it runs in. */
  readonly sandbox: EngineSandbox | undefined;
}

/** A sandbox with all options decided. Paths are absolute, and exist. */
export interface EngineSandbox {
  /** The plan, as native/keeper/src/sandbox/plan.rs reads it. */
  readonly plan: string;
  /** Writable paths. */
  readonly writable: readonly string[];
  /** Protected paths below writable ones. */
  readonly kept: readonly string[];
  /** Paths that cannot be read. */
  readonly hidden: readonly string[];
  /** Readable paths below hidden ones. */
  readonly shown: readonly string[];
  /** Paths of other processes' sockets that commands may connect to. */
  readonly sockets: readonly string[];
  /** Whether it has temporary directories of its own. */
  readonly ownTmp: boolean;
  /** Whether it has the host's network. */
  readonly network: boolean;
  /** The port on its loopback of the proxy to some hosts; undefined: there is none. */
  readonly proxyPort: number | undefined;
}

/** Callbacks for the events of a command. No method may throw. */
export interface CommandEvents {
  started?(pid: number): void;
  output?(stream: StreamName, chunks: readonly EngineChunk[]): void;
  /** Answers whether a program may be executed. Absent: nobody can answer. Unlike the others, it may throw. */
  readonly asked?: OnExec | undefined;
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
  /** The place where it ran can no longer be reached. */
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
  /** `portable` does not know `userMs`, `systemMs` and `peakBytes`: they are 0 then. */
  readonly engine: EngineName;
  readonly pid: number;
  readonly cause: 'itself' | 'timedOut' | 'cancelled';
  /** An exit code, a signal's number as a negative one, or a number below all of these: not known. */
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
  /** The shell's last working directory, if it was requested and is known. */
  readonly directory: string | undefined;
  /** Errno of the attempt to lower its priority; 0: done, or not requested. */
  readonly share: number;
  /** Each protection of its sandbox and its means, as `write=namespace tmp=none socket=40`. */
  readonly sandbox: string | undefined;
  /** What it was seen to do when its time was over, as `lock pid=7 command=npm%20ci path=/tmp/x`. */
  readonly reason?: string | undefined;
  /** Facts that only the machine of the command could tell; absent: it is this one, which was not asked. */
  readonly checked?: Pick<
    BaseResult,
    'outOfMemory' | 'sandbox' | 'executed' | 'moreExecuted' | 'spill' | 'limits'
  > & {
    readonly heldBack?: readonly HeldFacts[];
    readonly changes?: ChangeFacts;
  };
}

/** The answer to a request. */
export type EngineReply =
  | { readonly kind: 'done'; readonly value: boolean }
  | { readonly kind: 'captures'; readonly captures: readonly Capture[] | undefined }
  | { readonly kind: 'members'; readonly members: readonly BackgroundProcess[] | undefined }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'detached'; readonly pid: number }
  | ({ readonly kind: 'notDetached' } & EngineFailure)
  | { readonly kind: 'failed'; readonly errno: number; readonly message: string };

/**
 * How a terminal takes what is typed, as its programs have set it: lines that it shows, lines that it does
 * not show, as for a password, or keys, which programs get one by one.
 */
export type Typing = 'lines' | 'hidden' | 'keys';

/** Controls a running command. No method throws after its end. */
export interface CommandHandle {
  /** Ends it: SIGTERM, grace period, SIGKILL. `graceMs` replaces its own grace period. */
  cancel(graceMs?: number): void;
  /** Ends it as its own time limit does, if it runs. */
  expire(): void;
  /** Notes that the listener can take another delivery. */
  resume(): void;
  /** Notes that the listener has left, so that the command no longer waits for it. */
  detach(): void;
  /** Resolves once the bytes are in the pipe; rejects when no process can read them any more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes the input, once all data is written. */
  endInput(): void;
  /** Changes the size of its terminal. */
  resize(columns: number, rows: number): void;
  /**
   * Returns how its terminal takes what is typed; undefined without a terminal, or when it has ended.
   * Absent where it cannot be known.
   */
  typing?(): Promise<Typing | undefined>;
  /** Signals its process group. Returns false when it has ended. */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /** Sets whether the host stays alive until it has ended. Default: true. */
  holdHost(holds: boolean): void;
  /** Returns its output so far; undefined when it has ended. */
  snapshot(): Promise<readonly Capture[] | undefined>;
  /** Lists its running processes; undefined when they could not be examined. */
  members(): Promise<readonly BackgroundProcess[] | undefined>;
  /**
   * Returns the report on its sandbox, with the kernel's denials since the last call; undefined when it
   * has ended, or is in none. Absent where it cannot be known.
   */
  sandbox?(): Promise<EngineReport | undefined>;
  /**
   * Resolves when none of its processes is left, and does not keep the host alive until then; with false
   * when that can no longer be known. To be called while it runs; `members()` and `cancel()` then work
   * until it resolves.
   */
  gone(): Promise<boolean>;
}
