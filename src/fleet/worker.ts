import { Client, type FarService } from '../remote/for-fleet.js';
import { atLeast, readOptions } from '../support/checks.js';
import { warnTo } from '../support/logger.js';
import { packageVersion } from '../support/package/version.js';
import { settlesWithin, startTimer } from '../support/timing.js';
import { Broker, type Heard } from './line/broker.js';
import { accessOf } from './line/broker-access.js';
import { BrokerLink } from './line/broker-link.js';
import { BrokerParts } from './line/broker-parts.js';
import { type Placed, placeFrom, toJson, type WorkerInfo, type WorkerNotice } from './messages.js';
import { Openings, type Openness } from './openings.js';
import { lastToken, newId, type Subjects, subjectsOf } from './subjects.js';
import {
  LEASE_RANGE,
  WORKER_OPTION_NAMES,
  type WorkerOptions,
  type WorkerSettings,
  workerSettings,
} from './worker-options.js';

/** A worker of a pool. */
export interface WorkerService extends FarService {
  /** The id by which clients know the worker. */
  readonly id: string;
  /**
   * Takes no new work from now on, and ends once all calls are over and all tools are disposed of:
   * after `atMostMs` (default: `drainMs`) at the latest. Clients are told.
   */
  drain(atMostMs?: number): Promise<void>;
}

/**
 * Serves the clients of a pool over a NATS broker, where `connectFleet()` finds the worker. A broker
 * that is not there yet is waited for.
 *
 * @throws {InputError} An option is not valid.
 * @throws Error The broker refuses the credentials, or forbids what a worker does.
 * @throws The reason of the signal, if it ended the wait.
 */
export async function serveNats(given: WorkerOptions): Promise<WorkerService> {
  const options = readOptions('options', given, WORKER_OPTION_NAMES);
  const subjects = subjectsOf(options.pool ?? 'default');
  const settings = workerSettings(options);
  const { signal } = options;
  const warn = warnTo(options.logger);
  const id = newId();
  const access = await accessOf(options, subjects.inbox.worker(id));
  const broker = await Broker.connect(access, {
    signal: signal ?? undefined,
    told: (reason) => warn(`${reason}; waiting for it`),
  });
  const worker = new Worker(broker, subjects, id, settings);
  // Only then does the broker know whom to ask.
  await broker.checkPermissions(subjects.checks.worker);
  broker.onForbidden((what) => warn(`the broker forbids this worker to ${what}`));
  return worker;
}

interface WorkerLine {
  readonly link: BrokerLink;
  readonly client: Client;
  /** The id of its client. */
  readonly of: string;
}

class Worker implements WorkerService {
  readonly id: string;
  readonly closed: Promise<void>;
  readonly #broker: Broker;
  readonly #settings: WorkerSettings;
  /** Lines by their name, which only the two sides know. */
  readonly #lines = new Map<string, WorkerLine>();
  readonly #stops: (() => void)[];
  readonly #openings: Openings;
  readonly #parts: BrokerParts;
  /** Places that were promised to clients whose calls have not come yet: what takes each back. */
  readonly #promised = new Map<string, (() => void)[]>();
  #isDraining = false;
  #isCrowded = false;
  #settle: () => void = () => {};
  #closing: Promise<void> | undefined;
  /** Called when there may be nothing more to wait for. */
  #idle: () => void = () => {};

  constructor(broker: Broker, subjects: Subjects, id: string, settings: WorkerSettings) {
    this.id = id;
    this.#broker = broker;
    this.#settings = settings;
    this.#parts = new BrokerParts(broker, subjects.bucket, STORE_MS);
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const own = subjects.worker(this.id);
    const place = (asked: Heard): void => this.#place(asked);
    this.#openings = new Openings(broker, subjects, settings.labels, place);
    this.#stops = [
      broker.listen(subjects.who, ({ answer }) => answer?.(toJson(this.#info()))),
      broker.listen(own, place),
      broker.listen(subjects.drain(this.id), ({ answer }) => {
        void this.drain();
        answer?.(new Uint8Array());
      }),
      broker.listen(`${own}.*`, (heard) => this.#hear(heard)),
    ];
    this.#openings.open();
  }

  async drain(atMostMs = this.#settings.drainMs): Promise<void> {
    atLeast('atMostMs', 0, atMostMs);
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#openings.become(0);
      const notice: WorkerNotice = { draining: true };
      for (const { client } of this.#lines.values()) client.notice(notice);
    }
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#weigh();
    await settlesWithin(idle, atMostMs, 'keepsAlive');
    await this.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#openings.close();
    for (const client of [...this.#promised.keys()]) while (this.#keepPromise(client));
    const lines = [...this.#lines.values()];
    for (const { client } of lines) client.close('the worker ends');
    for (const stop of this.#stops) stop();
    await this.#broker.flush();
    await Promise.all(lines.map(({ client }) => client.ended));
    await this.#broker.close();
    this.#settle();
  }

  #info(): WorkerInfo {
    const { name, labels, capacity } = this.#settings;
    const version = packageVersion();
    const clients = [...this.#lines.values()].map(({ client }) => client);
    const sessions = clients.reduce((sum, client) => sum + client.sessions, 0);
    const running = this.#running;
    const load = Math.min(1, running / capacity);
    const counts = { running, capacity, clients: clients.length, sessions, load };
    return { id: this.id, name, version, labels, ...counts, draining: this.#isDraining };
  }

  /** The number of calls under way, idle tools left out. */
  get #running(): number {
    let running = 0;
    for (const { client } of this.#lines.values()) running += client.load;
    return running;
  }

  /**
   * Tells clients whether the worker is crowded: they may come back without asking only while there is
   * room for all.
   */
  #tellCrowd(): void {
    const running = this.#running;
    const isCrowded = running > this.#settings.capacity * CROWD;
    if (isCrowded === this.#isCrowded || this.#isDraining) return;
    this.#isCrowded = isCrowded;
    const notice: WorkerNotice = { isCrowded };
    for (const { client } of this.#lines.values()) client.notice(notice);
  }

  /** Returns why no new work is taken; `undefined`: it is taken. */
  #refusal(): string | undefined {
    if (this.#isDraining) return 'the worker is about to end';
    const { capacity } = this.#settings;
    // The call that asks is counted already.
    return this.#running > capacity ? `${capacity} calls are under way on the worker` : undefined;
  }

  /** Answers a client that looks for a worker. */
  #place({ data, answer }: Heard): void {
    // A client that asks without a search wants to know only whether there is a worker.
    if (data.length === 0) answer?.(toJson({ busy: true } satisfies Placed));
    const place = placeFrom(data);
    if (answer === undefined || place === undefined) return;
    const { client, line, to, leaseMs } = place;
    if (this.#isDraining || this.#openness() === 0) {
      answer(toJson({ busy: true } satisfies Placed));
      return;
    }
    const [known] = [...this.#lines].find(([, { of }]) => of === client) ?? [];
    if (known === undefined) this.#open(client, line, to, leaseOf(leaseMs));
    this.#promise(client);
    answer(toJson({ worker: this.id, line: known ?? line } satisfies Placed));
  }

  /** Keeps a place for a call that is about to come. */
  #promise(client: string): void {
    const takenBack = (): void => {
      const promised = this.#promised.get(client) ?? [];
      const left = promised.filter((one) => one !== stop);
      if (left.length > 0) this.#promised.set(client, left);
      else this.#promised.delete(client);
      this.#weigh();
    };
    const stop = startTimer(PROMISE_MS, takenBack);
    this.#promised.set(client, [...(this.#promised.get(client) ?? []), stop]);
    this.#weigh();
  }

  /** A call has come that a place was promised to, or is no more expected. Returns whether one was. */
  #keepPromise(client: string): boolean {
    const [stop, ...left] = this.#promised.get(client) ?? [];
    if (left.length > 0) this.#promised.set(client, left);
    else this.#promised.delete(client);
    stop?.();
    return stop !== undefined;
  }

  /** Returns in how many tiers the worker belongs. */
  #openness(): Openness {
    const { capacity } = this.#settings;
    let taken = this.#running;
    for (const promised of this.#promised.values()) taken += promised.length;
    if (this.#isDraining || taken >= capacity) return 0;
    if (taken === 0) return 3;
    return taken > capacity * CROWD ? 1 : 2;
  }

  #open(client: string, name: string, to: string, leaseMs: number): void {
    const { limits, profiles, restriction } = this.#settings;
    const link = new BrokerLink(this.#broker, to, { leaseMs }, () => {
      this.#lines.delete(name);
      this.#weigh();
    });
    const served = new Client(link, {
      limits,
      profiles,
      restriction,
      mayInheritAll: false,
      parts: this.#parts,
      refusal: () => this.#refusal(),
      changed: () => this.#weigh(),
      begun: () => void this.#keepPromise(client),
    });
    this.#lines.set(name, { link, client: served, of: client });
  }

  #hear({ subject, data, answer }: Heard): void {
    const line = this.#lines.get(lastToken(subject));
    if (data.length > 0) line?.link.receive(data);
    else line?.link.asked();
    // An empty answer: the line is there. Any other: it is gone.
    answer?.(line === undefined ? Buffer.from([0]) : new Uint8Array());
  }

  #weigh(): void {
    this.#tellCrowd();
    this.#openings.become(this.#openness());
    if (!this.#isDraining) return;
    const isIdle = [...this.#lines.values()].every(
      ({ client }) => client.load === 0 && client.sessions === 0,
    );
    if (isIdle) this.#idle();
  }
}

/** The time for which a place is kept for a client that has found it, in milliseconds. */
const PROMISE_MS = 2000;
/** How long the broker's object store is asked again that fails, in milliseconds. */
const STORE_MS = 20_000;
/** The share of its capacity beyond which a worker is crowded. */
const CROWD = 0.5;

function leaseOf(leaseMs: unknown): number {
  const [least, most] = LEASE_RANGE;
  return typeof leaseMs === 'number' ? Math.min(most, Math.max(least, leaseMs)) : most;
}
