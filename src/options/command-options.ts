import type { OnExec } from '../engine/exec/exec-request.js';
import type { OutputChunk } from '../engine/outcome.js';
import type { Owner } from '../engine/owner.js';
import type { OnDenied } from '../sandbox/denials/again.js';
import type { SandboxOption } from '../sandbox/policy.js';
import type { UndoOption } from '../sandbox/undo/undo-policy.js';
import type { CommandLimits } from './limits.js';
import type { PtyOption } from './terminal.js';

/** The command's share of busy processors: 'low', the host comes first; 'normal', the same as the host's. */
export type Priority = 'low' | 'normal';

/** A file for the whole output, mode 0600. */
export interface SpillOptions {
  /**
   * The file's path, absolute or relative to the host's working directory. Must not be a symbolic link;
   * links on the way to it that a sandboxed command could have made are not followed either.
   */
  readonly path: string;
  /** The largest size of the file, in bytes. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /**
   * The size in bytes from which on the file is made: once a stream is longer than this, or longer than
   * what is kept of it (`headBytes + tailBytes`). The file has the output from the first byte on all the
   * same. An existing file is a spill error, `EEXIST`. Default: the file is made, or emptied, at the start.
   */
  readonly afterBytes?: number | undefined;
}

/** The options of a command, except those for its environment. Times in milliseconds, sizes in bytes. */
export interface ExecuteOptions {
  /**
   * The working directory, as a path or a `file:` URL. Default: the host's working directory at the time
   * of the call.
   */
  readonly cwd?: string | URL | undefined;
  /** The time limit in milliseconds, counted from the start of the command. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** The time from SIGTERM to SIGKILL, in milliseconds. Default: 5000. */
  readonly graceMs?: number | undefined;
  /** Ends the command when aborted; the promise settles once the command is gone. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The streams of output: 'merged', one stream in the order in which it was printed, or 'separate',
   * `stdout` and `stderr`. Default: 'merged'.
   */
  readonly streams?: 'merged' | 'separate' | undefined;
  /** Bytes kept from the start of each stream. Default: 131072. */
  readonly headBytes?: number | undefined;
  /** Bytes kept from the end of each stream. Default: 131072. */
  readonly tailBytes?: number | undefined;
  /** A file for every byte of output. Default: none. */
  readonly spill?: string | SpillOptions | undefined;
  /**
   * The encoding of the command's output, as a label of `TextDecoder` (`gbk`, `shift_jis`, `utf-16le`). All
   * sizes, except those of files, count the bytes of the text in UTF-8. Default: 'utf-8'.
   */
  readonly encoding?: string | undefined;
  /** The text or the bytes that the command reads from its stdin. Default: none (`/dev/null`). */
  readonly input?: string | Uint8Array | undefined;
  /**
   * Runs the command on a terminal of its own, with 120 columns (20 to 400) and 40 rows (5 to 200) unless
   * other sizes are given. The output is then one stream, with `\r\n` for each newline. Input is typed by
   * `write()` of `spawn()`; with `run()` there is no input. Default: false.
   */
  readonly pty?: PtyOption | undefined;
  /**
   * Called with new text, at most every 50 ms or for each 64 KiB, in the async context of the
   * call. A listener that is too slow loses the middle; `droppedBytes` of a chunk says how much. If the
   * listener throws, or returns a promise that is rejected before the end, the command is ended and the
   * call rejects with that error. Default: none.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /**
   * Ends the command and the processes that it leaves running, when disposed of. Default: the host
   * process, at its end.
   */
  readonly owner?: Owner | undefined;
  /** Absolute paths of shells, tried in order. Default: /bin/bash, bash on the command's PATH, /bin/sh. */
  readonly shell?: readonly string[] | undefined;
  /**
   * Reports in `result.directory` the shell's working directory at its end, however it ended. A set-user-id
   * program that replaces the shell (`exec sudo …`) gets no privileges then. Default: false.
   */
  readonly followDirectory?: boolean | undefined;
  /**
   * The command's priority. With 'low', the host gets about ten times as much time of busy processors as the
   * command and all that it starts; `result.notLowered` tells if that was not possible. Default: 'normal'.
   */
  readonly priority?: Priority | undefined;
  /**
   * The most other commands of this process that are younger than 30 ms, and have not ended, when the command is
   * started: from 1 to 1,000,000. Until then it waits, first come first served, and none of its time counts.
   * Default: three for each processor, and any number as long as a processor is idle.
   */
  readonly startsAtOnce?: number | undefined;
  /**
   * The file mode creation mask, as for umask(2): the permissions that files of the command do not get, a
   * number from 0 to 0o777. Default: the host's.
   */
  readonly umask?: number | undefined;
  /**
   * The sandbox: limits what the command may write to, read and reach. Default: 'danger-full-access', all
   * that the host may.
   */
  readonly sandbox?: SandboxOption | undefined;
  /**
   * Whether what the command changes can be taken back, by `result.changes.revert()`: the same as `undo` of the
   * sandbox, in whose place it counts. Without a sandbox, the command is in one that confines nothing. Default: what
   * the sandbox says.
   */
  readonly undo?: UndoOption | undefined;
  /**
   * Called when the sandbox has denied the command something and the command has ended by itself. If the
   * callback returns a sandbox, the command is run again in it, once. Effects of the first run are not
   * undone, and `result.firstRun` describes that run; `onOutput` gets the output of both. Default: the
   * command is run once.
   */
  readonly onDenied?: OnDenied | undefined;
  /**
   * Answers, in the async context of the call, whether a program may be executed for which a rule of
   * `sandbox.exec` says `ask`; the command waits. What it throws, an answer that is neither, and no answer within
   * `askTimeoutMs` are denials. Default: such programs are denied.
   */
  readonly onExec?: OnExec | undefined;
  /** Limits of the command and all that it starts. Default: the host's. */
  readonly limits?: CommandLimits | undefined;
}

/** The options for the environment of a command. */
export interface EnvironmentOptions {
  /** Variables set on top of the inherited ones; `undefined` removes a variable. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The host's variables that the command inherits: 'scrubbed', all but those that look like secrets; 'all';
   * or 'none'. Variables that control a shell (`BASH_ENV`, `PS1`, exported functions) are never inherited.
   * Default: 'scrubbed'.
   */
  readonly inheritEnv?: 'scrubbed' | 'all' | 'none' | undefined;
}

/** The options of a command. Times in milliseconds, sizes in bytes; all fields are optional. */
export type CommandOptions = ExecuteOptions & EnvironmentOptions;

/** The parts of an output that are kept or shown, in bytes. */
export interface OutputLimits {
  /** Bytes from the beginning; with 0, only the end. */
  readonly headBytes: number;
  /** Bytes from the end. */
  readonly tailBytes: number;
}
