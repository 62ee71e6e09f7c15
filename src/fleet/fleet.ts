import type { CommandLine, LiveProcess } from '../faces/command.js';
import type { BashTool, BashToolOf, ContractName } from '../faces/contracts.js';
import type { BytesChunk, MergedResult, RunResult, SeparateResult } from '../faces/engine.js';
import {
  BusyError,
  type FarCommandOptions,
  type FarSpawnOptions,
  type FarToolOptions,
  type HasMachine,
  NoWorkerError,
  neverStartedFar,
} from '../remote/for-fleet.js';
import { abortReason } from '../support/abort.js';
import { atLeast, checkFunction, checkObject } from '../support/checks.js';
import { Listener } from '../support/listener.js';
import { pause } from '../support/timing.js';
import { tellToDrain } from './draining.js';
import { type FleetOptions, fleetOptions, type Labelled, type OnWorker } from './fleet-options.js';
import { LastingTools } from './lasting-tool.js';
import { Broker } from './line/broker.js';
import { accessOf } from './line/broker-access.js';
import { BrokerParts } from './line/broker-parts.js';
import type { WorkerInfo } from './messages.js';
import { type FoundWorker, Placement } from './placement.js';
import { WaitAborted } from './waiting.js';
import { checkLabels } from './worker-options.js';

/** Attempts to find another worker, when one was taken by another client meanwhile. */
const ATTEMPTS = 4;

/**
 * Finds the workers of a pool over a NATS broker.
 *
 * ```ts
 * const fleet = await connectFleet({ servers: 'tls://nats.example:4222', creds, pool: 'eval' });
 * const result = await fleet.run('make -j8', { timeoutMs: 60_000 });
 * await fleet.dispose();
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws Error The broker cannot be reached, refuses the credentials, or forbids what a client does; or
 *   `@nats-io/transport-node` is not installed.
 */
export async function connectFleet(given: FleetOptions): Promise<Fleet> {
  const options = fleetOptions(given);
  const { subjects, leaseMs, maxBytes, maxWaiting } = options;
  const broker = await Broker.connect(
    await accessOf(options.broker, subjects.inbox.client(options.word)),
  );
  const tools = new LastingTools();
  const onDrain = new Listener('onDrain', options.onDrain);
  const drained = (worker: string): void => {
    onDrain.tell(worker);
    tools.drained(worker);
  };
  const parts = new BrokerParts(broker, subjects.bucket, leaseMs);
  const limits = { leaseMs, maxBytes, maxWaiting, parts };
  const placement = new Placement(broker, subjects, limits, drained);
  await broker.checkPermissions(subjects.checks.client);
  const drain = (worker: string): Promise<void> => tellToDrain(broker, subjects, worker);
  return new Fleet(placement, tools, { waitMs: options.waitMs, drain });
}

/** What a fleet is given besides the search for workers. */
interface FleetWays {
  /** How long calls wait that do not say it, in milliseconds. */
  readonly waitMs: number;
  readonly drain: (worker: string) => Promise<void>;
}

/** The workers of a pool: each request goes to one that has room. */
export class Fleet implements AsyncDisposable {
  readonly #placement: Placement;
  readonly #lastingTools: LastingTools;
  readonly #waitMs: number;
  readonly #drain: FleetWays['drain'];
  #disposed: Promise<void> | undefined;

  /** Made by {@link connectFleet}. */
  constructor(placement: Placement, lastingTools: LastingTools, { waitMs, drain }: FleetWays) {
    this.#placement = placement;
    this.#lastingTools = lastingTools;
    this.#waitMs = waitMs;
    this.#drain = drain;
  }

  /**
   * Runs a command on a worker, as `run()` does; the result has the worker's id. The command runs once
   * or not at all: after `WorkerLostError` a caller may run it again, if that does no harm.
   *
   * @throws {InputError} An option is not valid, or no plain data; nothing was started.
   * @throws {NoWorkerError} No worker is there, or none with these labels; nothing was started.
   * @throws {BusyError} All workers have as many calls as they may; nothing was started.
   * @throws {LaunchError} The command could not be started there.
   * @throws {WorkerLostError} The worker was lost meanwhile.
   */
  run(
    command: CommandLine,
    options: FarCommandOptions & Labelled & { readonly streams: 'separate' },
  ): Promise<SeparateResult & OnWorker>;
  run(
    command: CommandLine,
    options?: FarCommandOptions & Labelled & { readonly streams?: 'merged' },
  ): Promise<MergedResult & OnWorker>;
  run(command: CommandLine, options?: FarCommandOptions & Labelled): Promise<RunResult & OnWorker>;
  async run(
    command: CommandLine,
    given: FarCommandOptions & Labelled = {},
  ): Promise<RunResult & OnWorker> {
    const { labels, waitMs, onWaiting, ...options } = objectOf(given);
    const where = { labels, waitMs, onWaiting, signal: options.signal };
    try {
      return await this.#somewhere(where, async ({ connection, worker }) => {
        const result = await connection.run(command, options);
        return { ...result, worker };
      });
    } catch (error) {
      if (!(error instanceof WaitAborted)) throw error;
      return { ...(await neverStartedFar(command, options)), worker: '' };
    }
  }

  /** Starts a command on a worker, as `spawn()` does. */
  spawn(
    command: CommandLine,
    options: FarSpawnOptions & Labelled & { readonly encoding: 'bytes' },
  ): Promise<LiveProcess<BytesChunk> & OnWorker>;
  spawn(
    command: CommandLine,
    options?: FarSpawnOptions & Labelled,
  ): Promise<LiveProcess & OnWorker>;
  async spawn(
    command: CommandLine,
    given: FarSpawnOptions & Labelled = {},
  ): Promise<(LiveProcess | LiveProcess<BytesChunk>) & OnWorker> {
    const { labels, waitMs, onWaiting, ...options } = objectOf(given);
    const { signal } = options;
    const where = { labels, waitMs, onWaiting, signal };
    try {
      return await this.#somewhere(where, async ({ connection, worker }) =>
        Object.assign(await connection.spawn(command, options), { worker }),
      );
    } catch (error) {
      throw error instanceof WaitAborted && signal ? abortReason(signal) : error;
    }
  }

  /**
   * Makes a tool on a worker, as `createBashTool()` does: the tool stays there, with its whole state.
   */
  async createBashTool<Name extends ContractName>(
    given: FarToolOptions<Name> & Labelled,
  ): Promise<BashToolOf<Name> & OnWorker & HasMachine> {
    const { labels, waitMs, onWaiting, ...options } = objectOf(given);
    const where = { labels, waitMs, onWaiting, signal: undefined };
    return this.#somewhere(where, async ({ connection, worker }) => {
      // The options are the caller's, without those of the fleet.
      const left = options as unknown as FarToolOptions<Name>;
      return Object.assign(await connection.createBashTool(left), { worker });
    });
  }

  /**
   * Makes a tool, as {@link createBashTool} does, that may go on with a new session. Once its worker is
   * lost, or about to end with nothing of the tool running there, the tool is made anew on another
   * worker. The first answer from there begins with a line that says so, and that directory, tasks and
   * artifacts are gone. A call that was under way is told `WorkerLostError`, and not run again.
   */
  createLastingTool<Name extends ContractName>(
    options: FarToolOptions<Name> & Labelled,
  ): Promise<BashTool & HasMachine> {
    return this.#lastingTools.make((isMove) =>
      this.createBashTool(isMove ? { ...options, waitMs: 0 } : options),
    );
  }

  /**
   * Yields the workers that are there now.
   *
   * @throws {NoWorkerError} The broker can't be reached, so that the workers are not known.
   */
  async *workers(): AsyncGenerator<WorkerInfo, void, void> {
    yield* await this.#placement.workers();
  }

  /**
   * Has a worker take nothing new, and end once what it has is over, or its time for that is up.
   *
   * @param worker The worker's id.
   * @throws {InputError} It is no id.
   * @throws {NoWorkerError} There is no such worker.
   * @throws Error The broker forbids that.
   */
  drain(worker: string): Promise<void> {
    return this.#drain(worker);
  }

  /** Ends all that the fleet has started, and closes the connection to the broker. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#placement.dispose();
    return this.#disposed;
  }

  /** As {@link dispose}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /**
   * Asks workers until one takes the request. A refused request was not started, so another worker may
   * be asked; the same goes for a request that could not be sent, or a tool that was lost while it was
   * made.
   */
  async #somewhere<T>(where: Where, ask: (found: FoundWorker) => Promise<T>): Promise<T> {
    const wanted = checkLabels(where.labels);
    const waitMs = atLeast('waitMs', 0, where.waitMs ?? this.#waitMs);
    checkFunction('onWaiting', where.onWaiting);
    const onWaiting = new Listener('onWaiting', where.onWaiting ?? undefined);
    const since = performance.now();
    const patience = { waitMs, since, onWaiting, signal: where.signal ?? undefined };
    for (let attempt = 1; ; attempt += 1) {
      const found = await this.#placement.find(wanted, patience);
      try {
        return await ask(found);
      } catch (error) {
        const isGone = error instanceof NoWorkerError && attempt < ATTEMPTS;
        const isBusy =
          error instanceof BusyError && (attempt < ATTEMPTS || performance.now() - since < waitMs);
        if (!isGone && !isBusy) throw error;
        found.avoid();
        if (attempt >= ATTEMPTS) await pause(REFUSED_MS);
      } finally {
        found.done();
      }
    }
  }
}

/** Where a call is to run, as its caller says. */
interface Where extends Labelled {
  readonly signal: AbortSignal | null | undefined;
}

/** The time after which a worker is asked again that has refused calls of this client, in milliseconds. */
const REFUSED_MS = 100;

/**
 * Checks that options are an object.
 *
 * @throws {InputError} The options are not an object.
 */
function objectOf<Options extends object>(options: Options): Options {
  checkObject('options', options);
  return options;
}
