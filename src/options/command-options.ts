import type { OutputChunk } from '../engine/outcome.js';
import type { Owner } from '../engine/owner.js';
import type { OnDenied } from '../sandbox/denials/again.js';
import type { SandboxOption } from '../sandbox/policy.js';
import type { CommandLimits } from './limits.js';
import type { PtyOption } from './terminal.js';

/** Who gets the processors where both want them: the host before the command, or each its share. */
export type Priority = 'low' | 'normal';

/** A file for the whole output, mode 0600. */
export interface SpillOptions {
  /**
   * Where: a path, or one relative to the directory of the host. No link is written through, nor is one
   * followed on the way that a command in a sandbox could have made.
   */
  readonly path: string;
  /** Its quota in bytes. Default: none. */
  readonly maxBytes?: number | undefined;
  /**
   * The file is made once a stream has printed more than so many bytes, or more than is kept of it
   * (`headBytes + tailBytes`); it has the output from the first byte on all the same. It must not
   * exist: that is a spill error, `EEXIST`. Default: it is made, or emptied, at the start.
   */
  readonly afterBytes?: number | undefined;
}

/** A command's options, but for its environment. Times in milliseconds, sizes in bytes. */
export interface ExecuteOptions {
  /** A path or a `file:` URL. Default: the host's working directory at the time of the call. */
  readonly cwd?: string | URL | undefined;
  /** Time that it may take, from its start. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Time from SIGTERM to SIGKILL. Default: 5000. */
  readonly graceMs?: number | undefined;
  /** Ends the command when it is aborted; the promise settles once it is gone. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Default: 'merged', one stream in true order. */
  readonly streams?: 'merged' | 'separate' | undefined;
  /** Bytes kept from the start of each stream. Default: 131072. */
  readonly headBytes?: number | undefined;
  /** Bytes kept from the end of each stream. Default: 131072. */
  readonly tailBytes?: number | undefined;
  /** A file for every byte of output. Default: none. */
  readonly spill?: string | SpillOptions | undefined;
  /**
   * What the command prints, as `TextDecoder` calls it (`gbk`, `shift_jis`, `utf-16le`). All sizes
   * but those of files are those of its text as UTF-8 then. Default: 'utf-8'.
   */
  readonly encoding?: string | undefined;
  /** What the command reads. Default: nothing (`/dev/null`). */
  readonly input?: string | Uint8Array | undefined;
  /**
   * Runs it on a terminal of its own, 120 columns by 40 rows unless a size (20 to 400 by 5 to 200)
   * is given. Its output is one stream then, with the terminal's `\r\n` for each newline, and what
   * it reads is typed: see `write()` of `spawn()`; with `run()` nobody types anything. Default: no.
   */
  readonly pty?: PtyOption | undefined;
  /**
   * Called with new text, at most every 50 ms or for each 64 KiB, in the async context of the
   * call. A listener that is too slow loses the middle, and is told how much. If it throws, or
   * returns a promise that is rejected before the end, the command is ended and the call rejects
   * with that. Default: nobody is called.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Who ends what is left. Default: the host process. */
  readonly owner?: Owner | undefined;
  /** Paths of shells, tried in order. Default: /bin/bash, bash on the command's PATH, /bin/sh. */
  readonly shell?: readonly string[] | undefined;
  /**
   * Tell in `result.directory` where the shell was at its end, however it ended. A set-user-id
   * program that takes the shell's own place (`exec sudo …`) has no privileges then. Default: false.
   */
  readonly followDirectory?: boolean | undefined;
  /**
   * `low`: where both want the processors, the host gets about ten times as much as the command and
   * what it starts. `result.notLowered` says when that could not be had. Default: 'normal'.
   */
  readonly priority?: Priority | undefined;
  /**
   * The permissions that files of the command do not get: a number from 0 to 0o777, as umask(2) takes it.
   * Default: the host's.
   */
  readonly umask?: number | undefined;
  /** What it may write to, read and reach. Default: 'danger-full-access', all that its host may. */
  readonly sandbox?: SandboxOption | undefined;
  /**
   * Asked when its sandbox has denied it something and it has ended by itself: it is run again, once, in
   * the sandbox that is returned. What the first run did stays done, and `result.firstRun` tells of it;
   * `onOutput` gets the output of both. Default: it is run once.
   */
  readonly onDenied?: OnDenied | undefined;
  /** What it may take, with all that it starts. Default: what its host may. */
  readonly limits?: CommandLimits | undefined;
}

/** What a command's environment is made of. */
export interface EnvironmentOptions {
  /** Over the inherited variables; `undefined` removes one. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The host's own variables: without those whose names look like secrets (the default), all of
   * them, or none. What steers a shell (`BASH_ENV`, `PS1`, exported functions) is never inherited.
   */
  readonly inheritEnv?: 'scrubbed' | 'all' | 'none' | undefined;
}

/** How a command is run. Times in milliseconds, sizes in bytes; all fields are optional. */
export type CommandOptions = ExecuteOptions & EnvironmentOptions;

/** How much is kept of an output, or shown, in bytes. */
export interface OutputLimits {
  /** Bytes from the beginning; 0: the end only. */
  readonly headBytes: number;
  /** Bytes from the end. */
  readonly tailBytes: number;
}
