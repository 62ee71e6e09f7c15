import type { Msg, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { lateLibrary, OPEN_ONE_BY_ONE } from '../../faces/engine.js';
import { onAbort, throwIfAborted } from '../../support/abort.js';
import { hasCode } from '../../support/errors.js';
import { missingPeer } from '../../support/peers/check.js';
import { settlesWithin, startTimer } from '../../support/timing.js';
import { type BrokerAccess, whyNotConnected } from './broker-access.js';

/**
 * The outcome of a question: the answer; `nobody`: no one listens on the subject; `silence`: no answer
 * in time; `forbidden`: the broker does not let this side ask there.
 */
type Answered = Uint8Array | 'nobody' | 'silence' | 'forbidden';

type Library = typeof import('@nats-io/transport-node');

/** A connection to a broker that reconnects whenever it is lost. */
export class Broker {
  readonly #library: Library;
  readonly #connection: NatsConnection;
  readonly #access: BrokerAccess;
  readonly #reconnected = new Set<() => void>();
  /** What the broker has forbidden: `publish on x`. */
  readonly #forbidden = new Set<string>();
  #onForbidden: (what: string) => void = () => {};
  #isConnected = true;

  private constructor(library: Library, connection: NatsConnection, access: BrokerAccess) {
    this.#library = library;
    this.#connection = connection;
    this.#access = access;
    void this.#watch();
  }

  /**
   * Connects to the broker.
   *
   * @param absence How long a broker that is not there is waited for. Default: not at all.
   * @throws Error The broker cannot be reached, or refuses the credentials; or
   *   `@nats-io/transport-node` is not installed.
   * @throws The reason of the signal.
   */
  static async connect(access: BrokerAccess, absence?: Absence): Promise<Broker> {
    const library = await loadLibrary();
    const given: NodeConnectionOptions = {
      ...access.connection,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 10_000,
      name: 'forkline',
      ...access.authenticator(library),
    };
    for (let isTold = false; ; isTold = true) {
      if (absence?.signal !== undefined) throwIfAborted(absence.signal);
      try {
        return new Broker(library, await library.connect(given), access);
      } catch (error) {
        const { message, isAbsent } = whyNotConnected(library, access.servers, error);
        if (!isAbsent || absence === undefined) throw new Error(message, { cause: error });
        if (!isTold) absence.told(message);
        await pauseUnless(absence.signal, RETRY_MS);
      }
    }
  }

  /**
   * Makes sure that the broker lets this connection publish on these subjects, and listen where it does.
   *
   * @throws Error The broker forbids one of them.
   */
  async checkPermissions(subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) this.#connection.publish(subject);
    await this.#connection.flush();
    // The library tells of refusals in turns of their own.
    await new Promise((resolve) => setImmediate(resolve));
    const [first] = this.#forbidden;
    if (first === undefined) return;
    await this.close();
    throw new Error(
      `The broker at ${this.#access.servers.join(', ')} forbids this user to ${first}`,
    );
  }

  /** Calls back once for each thing that the broker forbids from now on, up to 100 of them. */
  onForbidden(told: (what: string) => void): void {
    this.#onForbidden = told;
  }

  /** The connection itself, for what is asked of the broker and of no side. */
  get connection(): NatsConnection {
    return this.#connection;
  }

  /** The bytes of one message at most. */
  get maxPayload(): number {
    return this.#connection.info?.max_payload ?? 1024 * 1024;
  }

  /** Returns a subject that cannot be guessed, for messages to one side alone. */
  inbox(): string {
    return this.#library.createInbox(this.#access.connection.inboxPrefix);
  }

  /** Sends a message; one that cannot be sent now is lost. */
  publish(subject: string, payload: Uint8Array): void {
    if (this.#isConnected && !this.#connection.isClosed()) {
      this.#connection.publish(subject, payload);
    }
  }

  /** Whether the connection is there now. */
  get isThere(): boolean {
    return this.#isConnected;
  }

  /**
   * Waits for the connection to come back. Returns whether it is there within that many milliseconds.
   */
  async comesBack(ms: number): Promise<boolean> {
    if (this.#isConnected) return true;
    let off = (): void => {};
    const back = new Promise<void>((resolve) => {
      off = this.onReconnect(resolve);
    });
    return settlesWithin(back, ms, 'keepsAlive').finally(off);
  }

  /** Asks the listener on a subject; an answer that no one listens there is told apart. */
  async ask(subject: string, payload: Uint8Array, ms: number): Promise<Answered> {
    if (this.#connection.isClosed() || !this.#isConnected) return 'silence';
    try {
      const { data } = await this.#connection.request(subject, payload, { timeout: ms });
      return data;
    } catch (error) {
      if (this.#isForbidden(error)) return 'forbidden';
      return this.#isNobody(error) ? 'nobody' : 'silence';
    }
  }

  /**
   * Asks all listeners on a subject. Returns their answers, until none has come for `stallMs`;
   * `silence`: none came.
   */
  async askAll(
    subject: string,
    payload: Uint8Array,
    ms: number,
    stallMs: number,
  ): Promise<readonly Uint8Array[] | 'silence'> {
    const answers: Uint8Array[] = [];
    try {
      const given = { strategy: 'stall', maxWait: ms, stall: stallMs } as const;
      for await (const { data } of await this.#connection.requestMany(subject, payload, given)) {
        answers.push(data);
      }
    } catch (error) {
      if (this.#isNobody(error)) return answers;
    }
    return answers.length === 0 ? 'silence' : answers;
  }

  /**
   * Listens on a subject.
   *
   * @param heard Called with each message, and a way to answer where an answer is wanted.
   * @param queue Each message goes to one listener of the queue.
   */
  listen(subject: string, heard: (message: Heard) => void, queue?: string): () => void {
    const subscription = this.#connection.subscribe(subject, {
      ...(queue !== undefined && { queue }),
      callback: (error, message: Msg) => {
        if (error !== null) return;
        heard({
          subject: message.subject,
          data: message.data,
          answer: message.reply === undefined ? undefined : (data) => void message.respond(data),
        });
      },
    });
    // The broker may have given this member messages that no other one will get.
    if (queue !== undefined) return () => void subscription.drain().catch(() => {});
    return () => subscription.unsubscribe();
  }

  /** Calls back whenever the connection has come back. */
  onReconnect(told: () => void): () => void {
    this.#reconnected.add(told);
    return () => this.#reconnected.delete(told);
  }

  /** Settles when all messages so far have reached the broker. */
  async flush(): Promise<void> {
    await this.#connection.flush().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #isForbidden(error: unknown): boolean {
    return error instanceof Error && error.cause instanceof this.#library.PermissionViolationError;
  }

  #isNobody(error: unknown): boolean {
    const { NoRespondersError, RequestError } = this.#library;
    return (
      error instanceof NoRespondersError ||
      (error instanceof RequestError && error.isNoResponders())
    );
  }

  #failed(error: Error): void {
    if (!(error instanceof this.#library.PermissionViolationError)) return;
    const { operation, subject } = error;
    const what = `${operation === 'publish' ? 'publish on' : 'listen on'} ${subject}`;
    if (this.#forbidden.has(what) || this.#forbidden.size >= MOST_TOLD) return;
    this.#forbidden.add(what);
    this.#onForbidden(what);
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) {
      const { type } = status;
      if (type === 'error') this.#failed(status.error);
      if (type === 'disconnect') this.#isConnected = false;
      if (type !== 'reconnect') continue;
      this.#isConnected = true;
      for (const told of this.#reconnected) told();
    }
  }
}

/** How a broker that is not there is waited for. */
interface Absence {
  /** Ends the waiting. */
  readonly signal: AbortSignal | undefined;
  /** Called once, with the reason. */
  readonly told: (reason: string) => void;
}

/** The interval at which a broker that is not there is looked for, in milliseconds. */
const RETRY_MS = 1000;
/** The number of refusals that are told. */
const MOST_TOLD = 100;

function pauseUnless(signal: AbortSignal | undefined, ms: number): Promise<void> {
  return new Promise((resolve) => {
    let off = (): void => {};
    const stop = startTimer(
      ms,
      () => {
        off();
        resolve();
      },
      'keepsAlive',
    );
    if (signal === undefined) return;
    off = onAbort(signal, () => {
      stop();
      resolve();
    });
  });
}

/** A message that came. */
export interface Heard {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Sends the answer; `undefined`: no answer is wanted. */
  readonly answer: ((data: Uint8Array) => void) | undefined;
}

const loadLibrary = lateLibrary('the library of the broker', importLibrary, OPEN_ONE_BY_ONE);

async function importLibrary(): Promise<Library> {
  try {
    return await import('@nats-io/transport-node');
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    throw missingPeer('forkline/fleet', error);
  }
}
