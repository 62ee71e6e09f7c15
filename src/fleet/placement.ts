import { BusyError, Connection, NoWorkerError, type PartStore } from '../remote/for-fleet.js';
import { type Labels, labelsKey } from './label-keys.js';
import type { Broker } from './line/broker.js';
import { BrokerLink, type Lease } from './line/broker-link.js';
import { LEAVE } from './line/packet.js';
import {
  type PlaceRequest,
  placedFrom,
  toJson,
  type WorkerInfo,
  type WorkerNotice,
  workerFrom,
} from './messages.js';
import { disposedOf, nobody, unreachable } from './refusals.js';
import { lastToken, newId, type Subjects, TIERS } from './subjects.js';
import { CallQueue, type Patience } from './waiting.js';

/** A worker that has room, and the line to it. */
export interface FoundWorker {
  readonly worker: string;
  readonly connection: Connection;
  /** Tells that the work there is done. */
  readonly done: () => void;
  /** Tells that the worker had no room: others are asked, until it reports that it has room. */
  readonly avoid: () => void;
}

interface PlacementOptions extends Lease {
  /** The store for what is large. Default: none. */
  readonly parts?: PartStore;
  /** Bytes of the largest message that is taken. */
  readonly maxBytes: number;
  /** Calls that wait for a worker at most, with the same labels. */
  readonly maxWaiting: number;
}

interface Line {
  readonly link: BrokerLink;
  readonly worker: string;
  /** The connection; settles once both sides have said hello. */
  readonly connection: Promise<Connection>;
  /** The number of this client's calls under way there. */
  calls: number;
  /** Whether the worker is not to be asked: it is about to end, or crowded. */
  isAvoided: boolean;
  /** The sets of labels for which the worker was found. */
  readonly keys: Set<string>;
}

/**
 * The time within which a worker answers, in milliseconds; one that does not is taken for absent.
 */
const ANSWER_MS = 3000;
/** The number of workers of a tier that are asked, when each has become full meanwhile. */
const TIER_ATTEMPTS = 3;
/**
 * The time for which searches begin with the tier in which a worker was found, in milliseconds: less
 * crowded workers are found only later.
 */
const REMEMBERED_MS = 500;
/** Sets of labels of which something is remembered. */
const MOST_REMEMBERED = 1000;
/** The time without an answer after which all workers have answered, in milliseconds. */
const STALL_MS = 250;

/** Chooses a worker for each request, and keeps the lines to workers that have been found. */
export class Placement {
  readonly #broker: Broker;
  readonly #subjects: Subjects;
  readonly #options: PlacementOptions;
  readonly #onDrain: (worker: string) => void;
  /** The id of this client. */
  readonly #id = newId();
  readonly #inbox: string;
  readonly #stopListening: () => void;
  /** Lines by the id of the worker. */
  readonly #lines = new Map<string, Line>();
  /** Lines by their name. */
  readonly #links = new Map<string, BrokerLink>();
  /**
   * Packets that came on an offered line before the worker has answered, by the name of the line.
   */
  readonly #offers = new Map<string, Uint8Array[]>();
  /** Calls that wait, by the key of their labels. */
  readonly #waiting = new Map<string, CallQueue<FoundWorker>>();
  /** The tier in which workers were found, by the key of their labels, and since when. */
  readonly #tierOf = new Map<string, { readonly tier: number; readonly since: number }>();
  #isDisposed = false;

  constructor(
    broker: Broker,
    subjects: Subjects,
    options: PlacementOptions,
    onDrain: (worker: string) => void,
  ) {
    this.#broker = broker;
    this.#subjects = subjects;
    this.#options = options;
    this.#onDrain = onDrain;
    this.#inbox = broker.inbox();
    this.#stopListening = broker.listen(`${this.#inbox}.*`, ({ subject, data, answer }) => {
      const name = lastToken(subject);
      const link = this.#links.get(name);
      if (data.length === 0) link?.asked();
      else if (link !== undefined) link.receive(data);
      else this.#offers.get(name)?.push(data);
      answer?.(link === undefined ? Buffer.from([0]) : new Uint8Array());
    });
  }

  /**
   * Finds a worker that has room, once it is this call's turn.
   *
   * @throws {NoWorkerError} No worker is there, or none with these labels.
   * @throws {BusyError} No worker has had room in time, or too many calls wait.
   * @throws {WaitAborted} The signal was aborted meanwhile.
   */
  async find(labels: Labels, patience: Patience): Promise<FoundWorker> {
    if (this.#isDisposed) throw disposedOf();
    const key = labelsKey(labels);
    const isFirst = this.#broker.isThere && !this.#waiting.has(key);
    const idle = isFirst ? this.#idle(key) : undefined;
    if (idle !== undefined) return this.#use(idle, key);
    const line = this.#waiting.get(key) ?? new CallQueue<FoundWorker>(this.#options.maxWaiting);
    this.#waiting.set(key, line);
    try {
      return await line.find((isCrowded) => this.#search(labels, key, isCrowded), patience);
    } finally {
      if (line.isEmpty) this.#waiting.delete(key);
    }
  }

  /**
   * Returns all workers that answer.
   *
   * @throws {NoWorkerError} The broker can't be reached: the workers are not known.
   */
  async workers(): Promise<readonly WorkerInfo[]> {
    const { who } = this.#subjects;
    await this.#reachBroker();
    const answers = await this.#broker.askAll(who, new Uint8Array(), ANSWER_MS, STALL_MS);
    if (answers === 'silence') throw unreachable();
    return answers.flatMap((data) => workerFrom(data) ?? []);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const line of this.#waiting.values()) line.close(disposedOf());
    const all = [...this.#lines.values()].map(({ connection }) => connection.catch(() => null));
    await Promise.all(all.map(async (one) => (await one)?.dispose()));
    await this.#options.parts?.settled();
    await this.#broker.flush();
    this.#stopListening();
    await this.#broker.close();
  }

  async #reachBroker(): Promise<void> {
    if (!(await this.#broker.comesBack(this.#options.leaseMs))) throw unreachable();
  }

  /**
   * Looks for a worker that has room: one whose line is idle, or one that the broker finds among those
   * with least to do.
   *
   * @throws {NoWorkerError} No worker is there, or none with these labels.
   * @throws {BusyError} No worker has room.
   */
  async #search(labels: Labels, key: string, isCrowded: boolean): Promise<FoundWorker> {
    await this.#reachBroker();
    if (this.#isDisposed) throw disposedOf();
    // Where others wait, a call goes nowhere without a promise: it could be overtaken.
    const idle = isCrowded ? undefined : this.#idle(key);
    if (idle !== undefined) return this.#use(idle, key);
    const begun = performance.now();
    const known = this.#tierOf.get(key);
    if (this.#tierOf.size >= MOST_REMEMBERED) this.#tierOf.clear();
    const isKnown = known !== undefined && begun - known.since < REMEMBERED_MS;
    for (let tier = isKnown ? known.tier : 0; tier < TIERS.length; tier += 1) {
      const found = await this.#askTier(tier, key);
      if (found === undefined) continue;
      if (!isKnown) this.#tierOf.set(key, { tier, since: begun });
      return found;
    }
    if (!isKnown) this.#tierOf.set(key, { tier: TIERS.length - 1, since: begun });
    if (!isKnown && !(await this.#isThere(key))) throw nobody(labels);
    throw new BusyError('All workers are busy; nothing was started.');
  }

  /** Asks for a worker of a tier; `undefined`: there is none that has room. */
  async #askTier(tier: number, key: string): Promise<FoundWorker | undefined> {
    const subject = this.#subjects.place(TIERS[tier] ?? '', key);
    // A worker that has become full meanwhile says so, and is not asked again.
    for (let attempt = 1; attempt <= TIER_ATTEMPTS; attempt += 1) {
      const answer = await this.#ask(subject, key);
      if (typeof answer === 'object') return answer;
      if (answer === 'nobody') return undefined;
    }
    return undefined;
  }

  /** Returns whether any worker has the labels of a key, busy or not. */
  async #isThere(key: string): Promise<boolean> {
    const subject = this.#subjects.place('there', key);
    const answer = await this.#broker.ask(subject, new Uint8Array(), ANSWER_MS);
    // One that listens and does not answer has too much to do.
    if (answer === 'silence') return true;
    const placed = typeof answer === 'string' ? undefined : placedFrom(answer);
    return placed !== undefined && 'busy' in placed;
  }

  /** Asks one worker for room; offers a line in case there is none. */
  async #ask(
    subject: string,
    key: string,
    attempts = 3,
  ): Promise<FoundWorker | 'nobody' | 'silence' | 'busy'> {
    const line = newId();
    const to = `${this.#inbox}.${line}`;
    const place: PlaceRequest = { client: this.#id, line, to, leaseMs: this.#options.leaseMs };
    this.#offers.set(line, []);
    const answer = await this.#broker.ask(subject, toJson(place), ANSWER_MS);
    const early = this.#offers.get(line) ?? [];
    this.#offers.delete(line);
    if (answer === 'forbidden') return 'silence';
    if (answer === 'nobody' || answer === 'silence') return answer;
    const placed = placedFrom(answer);
    if (placed === undefined) return 'silence';
    if ('busy' in placed) return 'busy';
    const { worker } = placed;
    if (placed.line === line) return this.#open(worker, line, early, key);
    const known = this.#lines.get(worker);
    if (known !== undefined) return this.#use(known, key);
    // This side has given up the line and the worker has not: now the worker does.
    this.#broker.publish(`${this.#subjects.worker(worker)}.${placed.line}`, LEAVE);
    return attempts > 1 ? this.#ask(this.#subjects.worker(worker), key, attempts - 1) : 'silence';
  }

  async #open(
    worker: string,
    name: string,
    early: readonly Uint8Array[],
    key: string,
  ): Promise<FoundWorker> {
    const there = `${this.#subjects.worker(worker)}.${name}`;
    const link = new BrokerLink(this.#broker, there, this.#options, () => {
      this.#links.delete(name);
      if (this.#lines.get(worker)?.link === link) this.#lines.delete(worker);
    });
    this.#links.set(name, link);
    const connection = Connection.greet(link, {
      ...this.#options,
      readyMs: this.#options.leaseMs,
      ended: async () => {},
      noticed: (body) => this.#noticed(worker, body as WorkerNotice),
    }).catch((error: Error) => {
      throw new NoWorkerError(`The worker is gone: ${error.message}; nothing was started.`);
    });
    connection.catch(() => {});
    const opened: Line = { link, worker, connection, calls: 0, isAvoided: false, keys: new Set() };
    this.#lines.set(worker, opened);
    for (const data of early) link.receive(data);
    return this.#use(opened, key);
  }

  /**
   * Returns a line to a worker that does nothing for this client and has room: no search is needed.
   */
  #idle(key: string): Line | undefined {
    for (const line of this.#lines.values()) {
      if (line.calls === 0 && !line.isAvoided && line.keys.has(key)) return line;
    }
    return undefined;
  }

  async #use(line: Line, key: string): Promise<FoundWorker> {
    if (line.keys.size >= MOST_REMEMBERED) line.keys.clear();
    line.keys.add(key);
    line.calls += 1;
    const done = (): void => {
      line.calls -= 1;
    };
    const avoid = (): void => {
      line.isAvoided = true;
    };
    try {
      return { worker: line.worker, connection: await line.connection, done, avoid };
    } catch (error) {
      done();
      throw error;
    }
  }

  #noticed(worker: string, notice: WorkerNotice): void {
    const line = this.#lines.get(worker);
    if (line === undefined) return;
    const isDraining = 'draining' in notice;
    line.isAvoided = isDraining || notice.isCrowded;
    if (isDraining) this.#onDrain(worker);
  }
}
