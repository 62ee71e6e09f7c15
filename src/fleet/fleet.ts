import type { CommandLine, LiveProcess } from '../faces/command.js';
import type { BashTool, BashToolOf, ContractName } from '../faces/contracts.js';
import type { BytesChunk, MergedResult, RunResult, SeparateResult } from '../faces/engine.js';
import {
  BusyError,
  type FarCommandOptions,
  type FarSpawnOptions,
  type FarToolOptions,
  NoWorkerError,
  nearBytes,
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
import { accessOf } from './line/broker-access.js';
import { BROKER_OPTION_NAMES, type BrokerOptions } from './line/broker-options.js';
import type { WorkerInfo } from './messages.js';
import { type FoundWorker, Placement } from './placement.js';
import { inboxWord, subjectsOf } from './subjects.js';
import { checkLabels, LEASE_RANGE } from './worker-options.js';

/** Options of a fleet. Times in milliseconds. */
export interface FleetOptions extends BrokerOptions {
  /** The pool whose workers are used. Default: `default`. */
  readonly pool?: string | undefined;
  /**
   * The word in the subjects on which this client hears answers, `forkline.POOL.inbox.WORD`: the broker's
   * permissions can keep them from other users. Default: `user`, if it is letters, digits, `-` and `_`,
   * else `shared`.
   */
  readonly inbox?: string | undefined;
  /**
   * The time after which a silent worker, or a silent client, is taken for lost: what runs there ends.
   * A quarter of it if the broker reports that the other side is gone. 1,000 to 120,000. Default:
   * 20,000.
   */
  readonly leaseMs?: number | undefined;
  /** Bytes of the largest message that is taken: a result with its output. Default: 268,435,456 (256 MiB). */
  readonly maxBytes?: number | undefined;
  /**
   * Called with the id of a worker that takes no new work: tools there should be given up soon.
   * Default: none.
   */
  readonly onDrain?: ((worker: string) => void) | undefined;
}

/** Options that choose workers by labels: only workers that have all of them are asked. */
export interface Labelled {
  /** Names and values of labels. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The worker where something runs. */
export interface OnWorker {
  /** The id of the worker. */
  readonly worker: string;
}

const NAMES: OptionNames<FleetOptions> = {
  ...BROKER_OPTION_NAMES,
  pool: true,
  inbox: true,
  leaseMs: true,
  maxBytes: true,
  onDrain: true,
};
const LEASE_MS = 20_000;
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
  const options = readOptions('options', given, NAMES);
  const subjects = subjectsOf(options.pool ?? 'default');
  const leaseMs = leaseFrom(options.leaseMs ?? LEASE_MS);
  const maxBytes = nearBytes(options.maxBytes);
  checkFunction('onDrain', options.onDrain);
  const word = inboxWord(options.inbox, options.user);
  const broker = await Broker.connect(await accessOf(options, subjects.inbox.client(word)));
  const tools = new LastingTools();
  const onDrain = new Listener('onDrain', options.onDrain ?? undefined);
  const drained = (worker: string): void => {
    onDrain.tell(worker);
    tools.drained(worker);
  };
  const placement = new Placement(broker, subjects, { leaseMs, maxBytes }, drained);
  await broker.checkPermissions(subjects.checks.client);
  return new Fleet(placement, tools);
}

/**
 * Checks a lease.
 *
 * @throws {InputError} No worker takes this lease.
 */
function leaseFrom(leaseMs: number): number {
  const [least, most] = LEASE_RANGE;
  return wholeFrom('leaseMs', least, leaseMs, most);
}

/** The workers of a pool: each request goes to one that has room. */
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
    const { labels, ...options } = objectOf(given);
    return this.#somewhere(labels, async ({ connection, worker }) => {
      const result = await connection.run(command, options);
      return { ...result, worker };
    });
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
    const { labels, ...options } = objectOf(given);
    return this.#somewhere(labels, async ({ connection, worker }) =>
      Object.assign(await connection.spawn(command, options), { worker }),
    );
  }

  /**
   * Makes a tool on a worker, as `createBashTool()` does: the tool stays there, with its whole state.
   */
  async createBashTool<Name extends ContractName>(
    given: FarToolOptions<Name> & Labelled,
  ): Promise<BashToolOf<Name> & OnWorker> {
    const { labels, ...options } = objectOf(given);
    return this.#somewhere(labels, async ({ connection, worker }) => {
      // The options are the caller's, without the labels.
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
  ): Promise<BashTool> {
    return this.#lastingTools.make(() => this.createBashTool(options));
  }

  /**
   * Yields the workers that are there now.
   *
   * @throws {NoWorkerError} The broker can't be reached, so that the workers are not known.
   */
  async *workers(): AsyncGenerator<WorkerInfo, void, void> {
    yield* await this.#placement.workers();
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

/**
 * Checks that options are an object.
 *
 * @throws {InputError} The options are not an object.
 */
function objectOf<Options extends object>(options: Options): Options {
  checkObject('options', options);
  return options;
}
