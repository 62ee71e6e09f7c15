import { resolve } from 'node:path';
import { LaunchError } from '../engine/launch-error.js';
import type { CommandEvents, EngineChunk, EngineCommand, EngineEnd } from '../engine/message.js';
import type { MergedResult, RunResult, SeparateResult, StreamName } from '../engine/outcome.js';
import { hostOwner } from '../engine/owner.js';
import { EngineProcess } from '../engine/process.js';
import { neverStarted, type Requested, toResult } from '../engine/result.js';
import { onAbort } from '../support/abort.js';
import { checkExecuteOptions, type ExecuteOptions, type SpillOptions } from './options.js';
import { terminalSize } from './terminal.js';

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
