import { BusyError, Connection, NoWorkerError } from '../remote/for-fleet.js';
import type { Broker } from './line/broker.js';
import { BrokerLink, type Lease } from './line/broker-link.js';
import { encodePacket } from './line/packet.js';
import {
  type PlaceRequest,
  placedFrom,
  toJson,
  type WorkerInfo,
  type WorkerNotice,
  workerFrom,
} from './messages.js';
import { lastToken, newId, type Subjects } from './subjects.js';

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
  /** Bytes of the largest message that is taken. */
  readonly maxBytes: number;
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
}

/**
 * The time within which a worker answers, in milliseconds; one that does not is taken for absent.
 */
const ANSWER_MS = 3000;
/** The packet that gives up a line. */
const LEAVE = encodePacket({
  kind: 'bye',
  seq: 0,
  ack: 0,
  wantsAgain: false,
  payload: new Uint8Array(),
});
/** The time without an answer after which all workers have answered, in milliseconds. */
const STALL_MS = 250;

/** Chooses a worker for each request, and keeps the lines to workers that have been found. */
export class Placement {
  readonly #broker: Broker;
  readonly #subjects: Subjects;
  readonly #lease: PlacementOptions;
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
  #isDisposed = false;

  constructor(
    broker: Broker,
    subjects: Subjects,
    lease: PlacementOptions,
    onDrain: (worker: string) => void,
  ) {
    this.#broker = broker;
    this.#subjects = subjects;
    this.#lease = lease;
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
   * Finds a worker that has room.
   *
   * @throws {NoWorkerError} No worker is there, or none with these labels.
   * @throws {BusyError} No worker has room.
   */
  async find(labels: Readonly<Record<string, string>>): Promise<FoundWorker> {
    if (this.#isDisposed)
      throw new NoWorkerError('The fleet was disposed of; nothing was started.');
    await this.#reachBroker();
    if (Object.keys(labels).length === 0) {
      const idle = this.#idle();
      if (idle !== undefined) return this.#use(idle);
      const found = await this.#ask(this.#subjects.place);
      if (found === 'nobody') throw nobody();
      if (typeof found === 'object') return found;
    }
    return this.#choose(labels);
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
    const connections = [...this.#lines.values()].map(({ connection }) => connection);
    const settled = await Promise.allSettled(connections);
    await Promise.all(
      settled.map((one) => (one.status === 'fulfilled' ? one.value.dispose() : undefined)),
    );
    await this.#broker.flush();
    this.#stopListening();
    await this.#broker.close();
  }

  async #reachBroker(): Promise<void> {
    if (!(await this.#broker.comesBack(this.#lease.leaseMs))) throw unreachable();
  }

  /** Asks the workers that have the labels, the least busy one first. */
  async #choose(labels: Readonly<Record<string, string>>): Promise<FoundWorker> {
    const wanted = Object.entries(labels);
    const all = await this.workers();
    const fit = all.filter((worker) =>
      wanted.every(([name, value]) => worker.labels[name] === value),
    );
    if (fit.length === 0) {
      const text = wanted.map(([name, value]) => `${name}=${value}`).join(', ');
      throw all.length === 0 || text === '' ? nobody() : nobody(` with ${text}`);
    }
    const free = fit
      .filter(({ draining, load }) => !draining && load < 1)
      .sort((one, other) => one.load - other.load);
    for (const { id } of free) {
      const found = await this.#ask(this.#subjects.worker(id));
      if (typeof found === 'object') return found;
    }
    throw new BusyError(`All ${fit.length} workers are busy; nothing was started.`);
  }

  /** Asks one worker for room; offers a line in case there is none. */
  async #ask(subject: string, attempts = 3): Promise<FoundWorker | 'nobody' | 'silence' | 'busy'> {
    const line = newId();
    const to = `${this.#inbox}.${line}`;
    const place: PlaceRequest = { client: this.#id, line, to, leaseMs: this.#lease.leaseMs };
    this.#offers.set(line, []);
    const answer = await this.#broker.ask(subject, toJson(place), ANSWER_MS);
    const early = this.#offers.get(line) ?? [];
    this.#offers.delete(line);
    if (answer === 'nobody' || answer === 'silence') return answer;
    const placed = placedFrom(answer);
    if (placed === undefined) return 'silence';
    if ('busy' in placed) return 'busy';
    const { worker } = placed;
    if (placed.line === line) return this.#open(worker, line, early);
    const known = this.#lines.get(worker);
    if (known !== undefined) return this.#use(known);
    // This side has given up the line and the worker has not: now the worker does.
    this.#broker.publish(`${this.#subjects.worker(worker)}.${placed.line}`, LEAVE);
    return attempts > 1 ? this.#ask(this.#subjects.worker(worker), attempts - 1) : 'silence';
  }

  async #open(worker: string, name: string, early: readonly Uint8Array[]): Promise<FoundWorker> {
    const there = `${this.#subjects.worker(worker)}.${name}`;
    const link = new BrokerLink(this.#broker, there, this.#lease, () => {
      this.#links.delete(name);
      if (this.#lines.get(worker)?.link === link) this.#lines.delete(worker);
    });
    this.#links.set(name, link);
    const connection = Connection.greet(link, {
      readyMs: this.#lease.leaseMs,
      maxBytes: this.#lease.maxBytes,
      ended: async () => {},
      noticed: (body) => this.#noticed(worker, body as WorkerNotice),
    }).catch((error: Error) => {
      throw new NoWorkerError(`The worker is gone: ${error.message}; nothing was started.`);
    });
    connection.catch(() => {});
    const opened: Line = { link, worker, connection, calls: 0, isAvoided: false };
    this.#lines.set(worker, opened);
    for (const data of early) link.receive(data);
    return this.#use(opened);
  }

  /**
   * Returns a line to a worker that does nothing for this client and has room: no search is needed.
   */
  #idle(): Line | undefined {
    for (const line of this.#lines.values()) if (line.calls === 0 && !line.isAvoided) return line;
    return undefined;
  }

  async #use(line: Line): Promise<FoundWorker> {
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

function nobody(which = ''): NoWorkerError {
  return new NoWorkerError(`There is no worker${which}; nothing was started.`);
}

function unreachable(): NoWorkerError {
  return new NoWorkerError("The broker can't be reached; nothing was started.");
}
