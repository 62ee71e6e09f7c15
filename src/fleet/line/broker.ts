import type { Msg, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { lateLibrary, OPEN_ONE_BY_ONE } from '../../faces/engine.js';
import { checkString, isMissing } from '../../support/checks.js';
import { hasCode, messageOf } from '../../support/errors.js';
import { missingPeer } from '../../support/peers/check.js';
import { settlesWithin } from '../../support/timing.js';
import { type BrokerOptions, checkServers, contentOf, readableFiles } from './broker-options.js';

/**
 * The outcome of a question: the answer; `nobody`: no one listens on the subject; `silence`: no answer
 * in time.
 */
type Answered = Uint8Array | 'nobody' | 'silence';

type Library = typeof import('@nats-io/transport-node');

/** A connection to a broker that reconnects whenever it is lost. */
export class Broker {
  readonly #library: Library;
  readonly #connection: NatsConnection;
  readonly #reconnected = new Set<() => void>();
  #isConnected = true;

  private constructor(library: Library, connection: NatsConnection) {
    this.#library = library;
    this.#connection = connection;
    void this.#watch();
  }

  /**
   * Connects to the broker.
   *
   * @throws {InputError} An option is not valid, or would send secrets over an open line.
   * @throws Error The broker cannot be reached, or `@nats-io/transport-node` is not installed.
   */
  static async connect(options: BrokerOptions): Promise<Broker> {
    const servers = checkServers(options.servers, !isMissing(options.tls));
    for (const name of ['creds', 'token', 'user', 'password'] as const) {
      checkString(name, options[name]);
    }
    const { creds, token, user, password, tls } = options;
    const files = isMissing(tls) ? undefined : await readableFiles(tls);
    const identity = isMissing(creds) ? undefined : await contentOf('creds', creds);
    const library = await loadLibrary();
    const isSecure = files !== undefined || servers.some((server) => server.startsWith('tls:'));
    const given: NodeConnectionOptions = {
      servers: [...servers],
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 10_000,
      name: 'forkline',
      // Other addresses of a cluster may not be loopback.
      ignoreClusterUpdates: !isSecure,
      ...(!isMissing(token) && { token }),
      ...(!isMissing(user) && { user }),
      ...(!isMissing(password) && { pass: password }),
      ...(isSecure && { tls: files ?? {} }),
      ...(identity && { authenticator: library.credsAuthenticator(identity) }),
    };
    try {
      return new Broker(library, await library.connect(given));
    } catch (error) {
      throw new Error(`The broker at ${servers.join(', ')} can't be reached: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** The bytes of one message at most. */
  get maxPayload(): number {
    return this.#connection.info?.max_payload ?? 1024 * 1024;
  }

  /** Returns a subject that cannot be guessed, for messages to one side alone. */
  inbox(): string {
    return this.#library.createInbox();
  }

  /** Sends a message; one that cannot be sent now is lost. */
  publish(subject: string, payload: Uint8Array): void {
    if (this.#isConnected && !this.#connection.isClosed()) {
      this.#connection.publish(subject, payload);
    }
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

  #isNobody(error: unknown): boolean {
    const { NoRespondersError, RequestError } = this.#library;
    return (
      error instanceof NoRespondersError ||
      (error instanceof RequestError && error.isNoResponders())
    );
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#isConnected = false;
      if (type !== 'reconnect') continue;
      this.#isConnected = true;
      for (const told of this.#reconnected) told();
    }
  }
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
