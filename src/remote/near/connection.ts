import type { CommandLine, LiveProcess } from '../../faces/command.js';
import type { BashToolOf, ContractName } from '../../faces/contracts.js';
import type { BytesChunk, MergedResult, RunResult, SeparateResult } from '../../faces/engine.js';
import { settlesWithin, startTimer } from '../../support/timing.js';
import { packageVersion } from '../../support/version.js';
import { checkerOf } from '../wire/check.js';
import type { Link } from '../wire/link.js';
import { type Hello, PROTOCOL } from '../wire/protocol.js';
import { Wire } from '../wire/wire.js';
import {
  type FarCommandOptions,
  type FarLine,
  type FarSpawnOptions,
  runFar,
  spawnFar,
} from './machine.js';
import { createFarTool, type FarToolOptions } from './tool.js';

/** What a client takes of a far side, in bytes of a message: a result, with all that was kept. */
const MOST_BYTES = 2 * 1024 ** 3;

/** Everything has ended by then, or never will, in milliseconds. */
const LEAVE_MS = 30_000;

/** How a connection begins and ends. */
interface Surroundings {
  /** How long the far side may take to say hello. */
  readonly readyMs: number;
  /** Called when the line has been closed by us; settles when nothing is left of it. */
  readonly ended: () => Promise<void>;
  readonly noticed?: (body: unknown) => void;
}

/**
 * A far side: commands run there, as here. What was started by it ends with it, also when this
 * process dies. It does not keep this process alive while nothing is under way.
 */
export class Connection implements AsyncDisposable {
  /** Settles when the line is closed, with why; never rejects. */
  readonly closed: Promise<string>;
  readonly #line: FarLine;
  readonly #leave: () => Promise<void>;
  #disposed: Promise<void> | undefined;

  private constructor(
    wire: Wire,
    { maxBytes = MOST_BYTES, takes }: Hello,
    closed: Promise<string>,
    leave: Surroundings['ended'],
  ) {
    this.closed = closed;
    this.#leave = leave;
    // One that does not say so yet refuses them by itself.
    const hasTools = !Array.isArray(takes) || takes.includes('tool');
    this.#line = { wire, maxBytes, hasTools, isDisposed: () => this.#disposed !== undefined };
  }

  /** Whether the far side has tools: `forkline-far`, without Node, has `run()` and `spawn()` alone. */
  get hasTools(): boolean {
    return this.#line.hasTools;
  }

  /**
   * Says hello, and waits for the other side's.
   *
   * @throws Error It speaks another language, or has gone.
   */
  static greet(link: Link, { readyMs, ended, noticed }: Surroundings): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let close: (reason: string) => void = () => {};
      const closed = new Promise<string>((settle) => {
        close = settle;
      });
      const stopTimer = startTimer(readyMs, () => wire.destroy(`no hello within ${readyMs} ms`));
      const wire: Wire = new Wire(
        link,
        {
          hello: (body) => {
            stopTimer();
            const hello = body as Hello;
            if (hello.protocol === PROTOCOL) resolve(new Connection(wire, hello, closed, ended));
            else wire.destroy(`it is forkline ${hello.version}, this is ${packageVersion()}`);
          },
          ...(noticed && { notice: noticed }),
          check: checkerOf('far'),
          closed: (reason) => {
            stopTimer();
            close(reason);
            reject(new Error(reason));
          },
        },
        { maxBytes: MOST_BYTES },
      );
      const hello: Hello = { protocol: PROTOCOL, version: packageVersion() };
      wire.hello(hello);
    });
  }

  /**
   * As `run()`: options are sent, but for `signal`, `onOutput` and `input`. Paths are the far side's.
   *
   * @throws {InputError} An option is not valid, or no plain data; nothing was started.
   * @throws {LaunchError} It could not be started there.
   * @throws {NoWorkerError} Nobody is there any more; nothing was started.
   * @throws {WorkerLostError} The far side was lost meanwhile.
   */
  run(
    command: CommandLine,
    options: FarCommandOptions & { readonly streams: 'separate' },
  ): Promise<SeparateResult>;
  run(
    command: CommandLine,
    options?: FarCommandOptions & { readonly streams?: 'merged' },
  ): Promise<MergedResult>;
  run(command: CommandLine, options?: FarCommandOptions): Promise<RunResult>;
  run(command: CommandLine, options?: FarCommandOptions): Promise<RunResult> {
    return runFar(this.#line, command, options);
  }

  /** As `spawn()`; what `run()` says of options and errors goes for it, too. */
  spawn(
    command: CommandLine,
    options: FarSpawnOptions & { readonly encoding: 'bytes' },
  ): Promise<LiveProcess<BytesChunk>>;
  spawn(command: CommandLine, options?: FarSpawnOptions): Promise<LiveProcess>;
  spawn(
    command: CommandLine,
    options?: FarSpawnOptions,
  ): Promise<LiveProcess | LiveProcess<BytesChunk>> {
    return spawnFar(this.#line, command, options);
  }

  /**
   * As `createBashTool()`: the tool is made on the far side, and stays there. What its options have
   * of functions and objects is in a profile of the far side.
   *
   * @throws {InputError} An option is not valid, or no plain data; or the far side has no tools.
   */
  createBashTool<Name extends ContractName>(
    options: FarToolOptions<Name>,
  ): Promise<BashToolOf<Name>> {
    return createFarTool(this.#line, options);
  }

  /** Ends all that it has started, and the far side. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  /** As {@link dispose}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #dispose(): Promise<void> {
    // What does not end there ends when the line is closed.
    await settlesWithin(this.#line.wire.settle(), LEAVE_MS, 'keepsAlive');
    this.#line.wire.end();
    await this.#leave();
  }
}
