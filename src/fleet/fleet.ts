import type { CommandLine, LiveProcess } from '../faces/command.js';
import type { BashTool, BashToolOf, ContractName } from '../faces/contracts.js';
import type { BytesChunk, MergedResult, RunResult, SeparateResult } from '../faces/engine.js';
import {
  BusyError,
  type FarCommandOptions,
  type FarSpawnOptions,
  type FarToolOptions,
  NoWorkerError,
} from '../remote/for-fleet.js';
import {
  checkFunction,
  checkObject,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import { Listener } from '../support/listener.js';
import { LastingTools } from './lasting-tool.js';
import { Broker } from './line/broker.js';
import { BROKER_OPTION_NAMES, type BrokerOptions } from './line/broker-options.js';
import type { WorkerInfo } from './messages.js';
import { type FoundWorker, Placement } from './placement.js';
import { subjectsOf } from './subjects.js';
import { checkLabels, LEASE_RANGE } from './worker.js';

/** Options of a fleet. Times in milliseconds. */
export interface FleetOptions extends BrokerOptions {
  /** Which workers: those of the same pool. Default: `default`. */
  readonly pool?: string | undefined;
  /**
   * How long nothing may be heard of a worker, or of this client by it: then what runs there is lost,
   * and ends. A quarter of it when the broker says that it is gone. 1,000 to 120,000. Default: 20,000.
   */
  readonly leaseMs?: number | undefined;
  /** Told the id of a worker that takes nothing new: tools there should be given up soon. Default: nobody. */
  readonly onDrain?: ((worker: string) => void) | undefined;
}

/** Which workers a call may go to: those that have all of these labels. */
export interface Labelled {
  /** Names and their values. Default: none are asked for. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Where something runs. */
export interface OnWorker {
  /** Id of the worker. */
  readonly worker: string;
}

const NAMES: OptionNames<FleetOptions> = {
  ...BROKER_OPTION_NAMES,
  pool: true,
  leaseMs: true,
  onDrain: true,
};
const LEASE_MS = 20_000;
/** A worker may have been taken by another client meanwhile: so often another one is looked for. */
const ATTEMPTS = 4;

/**
 * Finds the workers of a pool over a NATS broker.
 *
 * ```ts
 * await using fleet = await connectFleet({ servers: 'tls://nats.example:4222', creds, pool: 'eval' });
 * const result = await fleet.run('make -j8', { timeoutMs: 60_000 });
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws Error The broker cannot be reached, or `@nats-io/transport-node` is not installed.
 */
export async function connectFleet(given: FleetOptions): Promise<Fleet> {
  const options = readOptions('options', given, NAMES);
  const subjects = subjectsOf(options.pool ?? 'default');
  const leaseMs = leaseFrom(options.leaseMs ?? LEASE_MS);
  checkFunction('onDrain', options.onDrain);
  const broker = await Broker.connect(options);
  const tools = new LastingTools();
  const onDrain = new Listener('onDrain', options.onDrain ?? undefined);
  const drained = (worker: string): void => {
    onDrain.tell(worker);
    tools.drained(worker);
  };
  return new Fleet(new Placement(broker, subjects, { leaseMs }, drained), tools);
}

/** @throws {InputError} It is no lease that a worker takes. */
function leaseFrom(leaseMs: number): number {
  const [least, most] = LEASE_RANGE;
  return wholeFrom('leaseMs', least, leaseMs, most);
}

/** The workers of a pool: whatever is asked goes to one that has room. */
export class Fleet implements AsyncDisposable {
  readonly #placement: Placement;
  readonly #lastingTools: LastingTools;
  #disposed: Promise<void> | undefined;

  /** Made by {@link connectFleet}. */
  constructor(placement: Placement, lastingTools: LastingTools) {
    this.#placement = placement;
    this.#lastingTools = lastingTools;
  }

  /**
   * As `run()`, on a worker; with its id. It is run once or not at all: who is told that its worker
   * was lost may run it again, if that does no harm.
   *
   * @throws {InputError} An option is not valid, or no plain data; nothing was started.
   * @throws {NoWorkerError} There is none, or none with these labels; nothing was started.
   * @throws {BusyError} All have as much to do as they may; nothing was started.
   * @throws {LaunchError} It could not be started there.
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
    const { labels, ...options } = objectOf(given);
    return this.#somewhere(labels, async ({ connection, worker }) => {
      const result = await connection.run(command, options);
      return { ...result, worker };
    });
  }

  /** As `spawn()`, on a worker. */
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
    const { labels, ...options } = objectOf(given);
    return this.#somewhere(labels, async ({ connection, worker }) =>
      Object.assign(await connection.spawn(command, options), { worker }),
    );
  }

  /** As `createBashTool()`: the tool stays on its worker, with all that it has. */
  async createBashTool<Name extends ContractName>(
    given: FarToolOptions<Name> & Labelled,
  ): Promise<BashToolOf<Name> & OnWorker> {
    const { labels, ...options } = objectOf(given);
    return this.#somewhere(labels, async ({ connection, worker }) => {
      // What is left is what it was, without the labels.
      const left = options as unknown as FarToolOptions<Name>;
      return Object.assign(await connection.createBashTool(left), { worker });
    });
  }

  /**
   * As {@link createBashTool}, for whom a new session is better than none: once its worker is lost,
   * or about to end and nothing of the tool runs there, the tool goes on at another one. The first
   * answer from there begins with a line that says so, and that directory, tasks and artifacts are
   * gone. The call that was under way is told `WorkerLostError`, and not run again.
   */
  createLastingTool<Name extends ContractName>(
    options: FarToolOptions<Name> & Labelled,
  ): Promise<BashTool> {
    return this.#lastingTools.make(() => this.createBashTool(options));
  }

  /**
   * The workers that are there now.
   *
   * @throws {NoWorkerError} The broker can't be reached, so that nobody knows.
   */
  async *workers(): AsyncGenerator<WorkerInfo, void, void> {
    yield* await this.#placement.workers();
  }

  /** Ends all that it has started, and leaves. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#placement.dispose();
    return this.#disposed;
  }

  /** As {@link dispose}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /**
   * What was refused as too much was not started, so that it may be asked elsewhere; nor was what could not
   * be asked any more, or a tool that was lost while it was made.
   */
  async #somewhere<T>(labels: unknown, ask: (found: FoundWorker) => Promise<T>): Promise<T> {
    const wanted = checkLabels(labels);
    for (let attempt = 1; ; attempt += 1) {
      const found = await this.#placement.find(wanted);
      try {
        return await ask(found);
      } catch (error) {
        const isElsewhere = error instanceof BusyError || error instanceof NoWorkerError;
        if (!isElsewhere || attempt === ATTEMPTS) throw error;
        found.avoid();
      } finally {
        found.done();
      }
    }
  }
}

/** @throws {InputError} Options are none. */
function objectOf<Options extends object>(options: Options): Options {
  checkObject('options', options);
  return options;
}
