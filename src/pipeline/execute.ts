import { inCallersContext } from '../engine/caller.js';
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
import { checkExecuteOptions } from './execute-options.js';
import { callOut } from './listener.js';
import { onAbort } from './on-abort.js';
import { settlesAtOnce } from './settles-at-once.js';
import { type PtyOption, terminalSize } from './terminal-size.js';
import { UnderWay } from './under-way.js';
import { absolutePath } from './workdir.js';

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
  /** Default: the host's working directory at the time of the call. */
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
   * Called with new text, at most every 50 ms or for each 64 KiB, in the async context of the
   * call. A listener that is too slow loses the middle, and is told how much. If it throws, or
   * returns a promise that is rejected before the end, the command is ended and the call rejects
   * with that.
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
  readonly #onOutput: ((chunk: OutputChunk) => unknown) | undefined;
  readonly #asked: Requested;
  readonly #resolve: (result: RunResult) => void;
  readonly #reject: (reason: unknown) => void;
  #process: EngineProcess | undefined;
  #offAbort: (() => void) | undefined;
  /** What the listener threw. */
  #thrown: { reason: unknown } | undefined;
  /** Promises that the listener has returned; most return none. */
  #listening: UnderWay | undefined;

  constructor(
    command: string,
    options: ExecuteOptions,
    resolve: (result: RunResult) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#options = options;
    const { onOutput } = options;
    this.#onOutput = onOutput && inCallersContext(onOutput, options);
    this.#asked = requested(command, options);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  skip(): void {
    this.#resolve(neverStarted(this.#asked));
  }

  start(environment: string): void {
    const { owner = hostOwner, signal, input } = this.#options;
    const native = engineCommand(
      this.#asked,
      environment,
      this.#options,
      input === undefined ? false : toBytes(input),
      this.#onOutput && 'text',
      false,
    );
    this.#process = EngineProcess.start(owner, native, this);
    this.#offAbort = signal && onAbort(signal, () => this.#process?.cancel());
  }

  output(stream: StreamName, chunks: readonly EngineChunk[]): void {
    for (const { data, droppedBytes } of chunks) {
      if (this.#thrown !== undefined) return;
      const chunk = { stream, text: String(data), droppedBytes };
      const settled = callOut(() => this.#onOutput?.(chunk), this.#failed);
      if (settled === undefined) continue;
      this.#listening ??= new UnderWay();
      this.#listening.add(settled);
    }
    if (this.#thrown === undefined) this.#process?.resume();
  }

  ended(end: EngineEnd): void {
    this.#offAbort?.();
    // The end may come in the same turn as the output: what is rejected by now counts. A promise
    // that takes longer is not waited for.
    if (this.#listening === undefined) this.#settle(end);
    else settlesAtOnce(this.#listening.settled()).then(() => this.#settle(end));
  }

  /** The first counts; once the call has its answer, it changes nothing. */
  readonly #failed = (reason: unknown): void => {
    if (this.#thrown !== undefined) return;
    this.#thrown = { reason };
    this.#process?.cancel();
  };

  #settle(end: EngineEnd): void {
    if (this.#thrown !== undefined) this.#reject(this.#thrown.reason);
    else if (end.kind === 'failed') this.#reject(new LaunchError(end));
    else this.#resolve(toResult(end, this.#asked));
  }
}

/** What the result will repeat of the request. */
export function requested(command: string, options: ExecuteOptions): Requested {
  const { spill, streams, timeoutMs } = options;
  const path = typeof spill === 'object' ? spill.path : spill;
  // Paths are made absolute now: the host may be elsewhere when the file is made.
  const spillPath = path === undefined ? undefined : absolutePath('spill', path);
  return { command, separate: streams === 'separate', timeoutMs, spillPath };
}

/** The command as the engine takes it. One literal: this is on every command's way. */
export function engineCommand(
  { command, spillPath }: Requested,
  environment: string,
  options: ExecuteOptions,
  stdin: EngineCommand['stdin'],
  listen: EngineCommand['listen'],
  pause: boolean,
): EngineCommand {
  const { cwd, shell, spill } = options;
  const limits = typeof spill === 'object' ? spill : undefined;
  return {
    text: command,
    shells: shell?.join('\0') ?? '',
    environment,
    directory: cwd === undefined ? undefined : absolutePath('cwd', cwd),
    follow: options.followDirectory ?? false,
    stdin,
    separate: options.streams === 'separate',
    terminal: terminalSize(options.pty),
    headBytes: options.headBytes ?? DEFAULT_KEPT_BYTES,
    tailBytes: options.tailBytes ?? DEFAULT_KEPT_BYTES,
    listen,
    pause,
    spillPath,
    spillMaxBytes: limits?.maxBytes ?? Number.MAX_SAFE_INTEGER,
    spillAfterBytes: limits?.afterBytes,
    timeoutMs: options.timeoutMs,
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
  };
}

export function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
}
