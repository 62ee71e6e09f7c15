import type { CommandLine, LiveProcess } from '../../faces/command.js';
import type { BashToolOf, ContractName } from '../../faces/contracts.js';
import type { BytesChunk, MergedResult, RunResult, SeparateResult } from '../../faces/engine.js';
import { wholeFrom } from '../../support/checks.js';
import { packageVersion } from '../../support/package/version.js';
import { settlesWithin, startTimer } from '../../support/timing.js';
import { loadTraceApi } from '../trace-context.js';
import { checkerOf } from '../wire/check.js';
import type { Link } from '../wire/link.js';
import type { PartStore } from '../wire/part-store.js';
import { type Hello, PROTOCOL } from '../wire/protocol.js';
import { Wire } from '../wire/wire.js';
import { FarFiles } from './files/files.js';
import { startThere } from './files/start-there.js';
import {
  type FarCommandOptions,
  type FarLine,
  type FarSpawnOptions,
  runFar,
  spawnFar,
} from './machine.js';
import { FarPorts } from './ports/ports.js';
import { Pulse } from './pulse.js';
import { createFarTool, type FarToolOptions, type HasMachine } from './tool.js';

/** Bytes of the largest message that a client takes by default. */
const MOST_BYTES = 256 * 1024 ** 2;
/** Bytes of the longest text of the runtime: a longer message can't be read. */
const LONGEST = 500 * 1024 ** 2;

/** The longest wait until everything on the far side has ended, in milliseconds. */
const LEAVE_MS = 30_000;

/** Callbacks and times of a connection. */
interface Surroundings {
  /** The time within which the far side has to say hello. */
  readonly readyMs: number;
  /** Called when this side has closed the line; settles when nothing is left of it. */
  readonly ended: () => Promise<void>;
  readonly noticed?: (body: unknown) => void;
  /** Bytes of the largest message that this side takes. Default: 256 MiB. */
  readonly maxBytes?: number;
  /** A store that the far side may reach, too. Default: none. */
  readonly parts?: PartStore;
  /** The longest silence while calls are under way. Default: the line itself knows. */
  readonly silenceMs?: number;
}

/**
 * Checks the bytes of the largest message that a client takes.
 *
 * @throws {InputError} No client takes so few, or so many.
 */
export function nearBytes(maxBytes: number | null | undefined): number {
  return wholeFrom('maxBytes', 65_536, maxBytes ?? MOST_BYTES, LONGEST);
}

/**
 * A far side: commands run there as they do here. All that the connection has started ends with it,
 * also when this process dies. The connection does not keep this process alive while nothing is under
 * way.
 */
export class Connection implements AsyncDisposable {
  /** Settles with the reason when the line is closed; never rejects. */
  readonly closed: Promise<string>;
  readonly #line: FarLine;
  readonly #leave: () => Promise<void>;
  #disposed: Promise<void> | undefined;

  private constructor(
    wire: Wire,
    { maxBytes = LONGEST, takes, takesParts }: Hello,
    closed: Promise<string>,
    { ended: leave, parts: store }: Surroundings,
  ) {
    this.closed = closed;
    this.#leave = leave;
    // An older far side does not list its calls, and refuses by itself those that it does not know.
    const hasTools = !Array.isArray(takes) || takes.includes('tool');
    const hasPorts = Array.isArray(takes) && takes.includes('port');
    const isDisposed = (): boolean => this.#disposed !== undefined;
    const parts = takesParts === true ? store : undefined;
    this.#line = { wire, parts, maxBytes, hasTools, hasPorts, closed, isDisposed };
  }

  /** Whether the far side has tools: `forkline-far`, without Node, has `run()` and `spawn()` alone. */
  get hasTools(): boolean {
    return this.#line.hasTools;
  }

  /**
   * Says hello, and waits for the other side's hello.
   *
   * @throws Error The other side speaks another protocol, or has gone.
   */
  static greet(link: Link, surroundings: Surroundings): Promise<Connection> {
    const { readyMs, noticed, maxBytes = MOST_BYTES, silenceMs } = surroundings;
    const pulse = silenceMs === undefined ? undefined : new Pulse(silenceMs);
    // While the other side starts: the first call may be in a trace.
    const loading = loadTraceApi();
    return new Promise((resolve, reject) => {
      let close: (reason: string) => void = () => {};
      const closed = new Promise<string>((settle) => {
        close = settle;
      });
      const stopTimer = startTimer(readyMs, () => wire.destroy(`no hello within ${readyMs} ms`));
      const wire: Wire = new Wire(
        pulse?.listening(link) ?? link,
        {
          hello: (body) => {
            stopTimer();
            const hello = body as Hello;
            if (hello.protocol === PROTOCOL)
              resolve(loading.then(() => new Connection(wire, hello, closed, surroundings)));
            else wire.destroy(`it is forkline ${hello.version}, this side is ${packageVersion()}`);
          },
          ...(noticed && { notice: noticed }),
          check: checkerOf('far'),
          closed: (reason) => {
            stopTimer();
            pulse?.stop();
            close(reason);
            reject(new Error(reason));
          },
        },
        { maxBytes },
      );
      const hello: Hello = { protocol: PROTOCOL, version: packageVersion() };
      wire.hello(hello);
      pulse?.start(wire);
    });
  }

  /**
   * Runs a command, as `run()` does. Options are sent, but for `signal`, `onOutput`, `onExec` and `input`. Paths
   * are the far side's.
   *
   * @throws {InputError} An option is not valid, or no plain data; nothing was started.
   * @throws {LaunchError} The command could not be started there.
   * @throws {NoWorkerError} The far side has gone; nothing was started.
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

  /** Starts a command, as `spawn()` does; options and errors are those of {@link run}. */
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
   * Makes a tool on the far side, as `createBashTool()` does; the tool stays there. Functions and
   * objects among its options have to be in a profile of the far side.
   *
   * @throws {InputError} An option is not valid, or no plain data; or the far side has no tools.
   */
  createBashTool<Name extends ContractName>(
    options: FarToolOptions<Name>,
  ): Promise<BashToolOf<Name> & HasMachine> {
    return createFarTool(this.#line, options);
  }

  /** The far side's files, which commands there read and write: they have the rights of commands. */
  get files(): FarFiles {
    return new FarFiles(startThere(this.#line, () => ({})));
  }

  /** Ports of the far side, reached from here, and ports of this side, reached from there. */
  get ports(): FarPorts {
    return new FarPorts(() => this.#line);
  }

  /** Ends all that the connection has started, and the far side. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  /** As {@link dispose}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #dispose(): Promise<void> {
    // Commands that have not ended by then end when the line is closed.
    await settlesWithin(this.#line.wire.settle(), LEAVE_MS, 'keepsAlive');
    this.#line.wire.end();
    await this.#leave();
  }
}
