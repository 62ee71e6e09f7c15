import { resolve } from 'node:path';
import { LaunchError } from '../engine/launch-error.js';
import type { CommandEvents, EngineChunk, EngineCommand, EngineEnd } from '../engine/message.js';
import type {
  MergedResult,
  OutputChunk,
  RunResult,
  SeparateResult,
  StreamName,
} from '../engine/outcome.js';
import { hostOwner, type Owner } from '../engine/owner.js';
import { EngineProcess } from '../engine/process.js';
import { neverStarted, type Requested, toResult } from '../engine/result.js';
import { onAbort } from '../support/abort.js';
import { checkExecuteOptions } from './options.js';
import { type PtyOption, terminalSize } from './terminal.js';

/** A file for the whole output, mode 0600. */
export interface SpillOptions {
  readonly path: string;
  /** Its quota in bytes. Default: none. */
  readonly maxBytes?: number;
  /**
   * The file is made once a stream has printed more than so many bytes, or more than is kept of it
   * (`headBytes + tailBytes`); it has the output from the first byte on all the same. It must not
   * exist: that is a spill error, `EEXIST`. Default: it is made, or emptied, at the start.
   */
  readonly afterBytes?: number;
}

/** A command's options, but for its environment. Times in milliseconds, sizes in bytes. */
export interface ExecuteOptions {
  /** Default: the host's working directory. */
  readonly cwd?: string;
  /** From the start. Default: none. */
  readonly timeoutMs?: number;
  /** From SIGTERM to SIGKILL. Default: 5000. */
  readonly graceMs?: number;
  /** Ends the command when it is aborted; the promise settles once it is gone. */
  readonly signal?: AbortSignal;
  /** Default: 'merged', one stream in true order. */
  readonly streams?: 'merged' | 'separate';
  /** Kept from the start of each stream. Default: 131072. */
  readonly headBytes?: number;
  /** Kept from the end of each stream. Default: 131072. */
  readonly tailBytes?: number;
  /** A file for every byte of output. */
  readonly spill?: string | SpillOptions;
  /** What the command reads. Default: nothing (`/dev/null`). */
  readonly input?: string | Uint8Array;
  /**
   * Runs it on a terminal of its own, 120 columns by 40 rows unless a size (20 to 400 by 5 to 200)
   * is given. Its output is one stream then, with the terminal's `\r\n` for each newline, and what
   * it reads is typed: see `write()` of `spawn()`; with `run()` nobody types anything. Default: no.
   */
  readonly pty?: PtyOption;
  /**
   * Called with new text, at most every 50 ms or for each 64 KiB. A listener that is too slow
   * loses the middle, and is told how much. If it throws, the command is ended and the call
   * rejects with what was thrown.
   */
  readonly onOutput?: (chunk: OutputChunk) => void;
  /** Who ends what is left. Default: the host process. */
  readonly owner?: Owner;
  /** Paths of shells, tried in order. Default: /bin/bash, bash on the command's PATH, /bin/sh. */
  readonly shell?: readonly string[];
  /**
   * Tell in `result.directory` where the shell was at its end, however it ended. A set-user-id
   * program that takes the shell's own place (`exec sudo …`) has no privileges then. Default: false.
   */
  readonly followDirectory?: boolean;
}

const DEFAULT_KEPT_BYTES = 128 * 1024;
const DEFAULT_GRACE_MS = 5000;

/**
 * Runs a command to its end. A command that fails is a result.
 *
 * @param environment The environment block, as `resolveEnvironment` makes it.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} It could not be started.
 */
export function execute(
  command: string,
  environment: string,
  options: ExecuteOptions & { readonly streams: 'separate' },
): Promise<SeparateResult>;
export function execute(
  command: string,
  environment: string,
  options: ExecuteOptions & { readonly streams?: 'merged' },
): Promise<MergedResult>;
export function execute(
  command: string,
  environment: string,
  options: ExecuteOptions,
): Promise<RunResult>;
export function execute(
  command: string,
  environment: string,
  options: ExecuteOptions,
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    checkExecuteOptions(command, options);
    const run = new Execution(command, options, resolve, reject);
    if (options.signal?.aborted || options.owner?.isDisposed) run.skip();
    else run.start(environment);
  });
}

/** One command under way for `execute`. */
class Execution implements CommandEvents {
  readonly #options: ExecuteOptions;
  readonly #asked: Requested;
  readonly #resolve: (result: RunResult) => void;
  readonly #reject: (reason: unknown) => void;
  #process: EngineProcess | undefined;
  #offAbort: (() => void) | undefined;
  /** What a listener threw. */
  #thrown: { reason: unknown } | undefined;

  constructor(
    command: string,
    options: ExecuteOptions,
    resolve: (result: RunResult) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#options = options;
    this.#asked = requested(command, options);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  skip(): void {
    this.#resolve(neverStarted(this.#asked));
  }

  start(environment: string): void {
    const { owner = hostOwner, signal, onOutput, input } = this.#options;
    const native = engineCommand(
      this.#asked.command,
      environment,
      this.#options,
      input === undefined ? false : toBytes(input),
      onOutput && 'text',
      false,
    );
    this.#process = EngineProcess.start(owner, native, this);
    this.#offAbort = signal && onAbort(signal, () => this.#process?.cancel());
  }

  output(stream: StreamName, chunks: readonly EngineChunk[]): void {
    if (this.#thrown !== undefined) return;
    try {
      for (const { data, droppedBytes } of chunks) {
        this.#options.onOutput?.({ stream, text: String(data), droppedBytes });
      }
      this.#process?.resume();
    } catch (reason) {
      this.#thrown = { reason };
      this.#process?.cancel();
    }
  }

  ended(end: EngineEnd): void {
    this.#offAbort?.();
    if (this.#thrown !== undefined) this.#reject(this.#thrown.reason);
    else if (end.kind === 'failed') this.#reject(new LaunchError(end));
    else this.#resolve(toResult(end, this.#asked));
  }
}

/** What the result will repeat of the request. */
export function requested(command: string, options: ExecuteOptions): Requested {
  const { spill, streams, timeoutMs } = options;
  const spillPath = typeof spill === 'object' ? spill.path : spill;
  return { command, separate: streams === 'separate', timeoutMs, spillPath };
}

/** The command as the engine takes it. One literal: this is on every command's way. */
export function engineCommand(
  text: string,
  environment: string,
  options: ExecuteOptions,
  stdin: EngineCommand['stdin'],
  listen: EngineCommand['listen'],
  pause: boolean,
): EngineCommand {
  const { cwd, shell, spill } = options;
  const target: SpillOptions | undefined = typeof spill === 'string' ? { path: spill } : spill;
  return {
    text,
    shells: shell?.join('\0') ?? '',
    environment,
    // Resolved now: the host may change its own directory before the launch.
    directory: cwd === undefined ? undefined : resolve(cwd),
    follow: options.followDirectory ?? false,
    stdin,
    separate: options.streams === 'separate',
    terminal: terminalSize(options.pty),
    headBytes: options.headBytes ?? DEFAULT_KEPT_BYTES,
    tailBytes: options.tailBytes ?? DEFAULT_KEPT_BYTES,
    listen,
    pause,
    spillPath: target?.path,
    spillMaxBytes: target?.maxBytes ?? Number.MAX_SAFE_INTEGER,
    spillAfterBytes: target?.afterBytes,
    timeoutMs: options.timeoutMs,
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
  };
}

export function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
}
