import { readFile } from 'node:fs/promises';
import type { Msg, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import {
  checkObject,
  checkString,
  isMissing,
  type OptionNames,
  readOptions,
} from '../../support/checks.js';
import { hasCode, InputError, messageOf, showValue } from '../../support/errors.js';
import { settlesWithin } from '../../support/timing.js';

/** How a broker is reached. */
export interface BrokerOptions {
  /** Its addresses: `tls://nats.example:4222`; `nats://127.0.0.1:4222`, which is loopback's alone. */
  readonly servers: string | readonly string[];
  /** A file with credentials, as `nsc` writes them. Default: none. */
  readonly creds?: string | undefined;
  /** The token that the broker wants to see. Default: none. */
  readonly token?: string | undefined;
  /** A user of the broker. Default: none. */
  readonly user?: string | undefined;
  /** The user's password. Default: none. */
  readonly password?: string | undefined;
  /** Files with certificates and keys. Default: the system's own certificates, and no key. */
  readonly tls?: TlsFiles | undefined;
}

/** What TLS takes that the system has not. */
export interface TlsFiles {
  /** Certificates that the broker's may come from. Default: the system's. */
  readonly ca?: string | undefined;
  /** A certificate to show to the broker. Default: none. */
  readonly cert?: string | undefined;
  /** Its key. Default: none. */
  readonly key?: string | undefined;
}

/** The names of those options. */
export const BROKER_OPTION_NAMES = {
  servers: true,
  creds: true,
  token: true,
  user: true,
  password: true,
  tls: true,
} as const;

/** What came of a question: the answer, that nobody is there to be asked, or nothing in time. */
type Answered = Uint8Array | 'nobody' | 'silence';

type Library = typeof import('@nats-io/transport-node');

/** A connection to a broker that comes back whenever it is lost. */
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
   * Connects.
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
      // Others of a cluster need not be loopback.
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

  /** Bytes that one message may have. */
  get maxPayload(): number {
    return this.#connection.info?.max_payload ?? 1024 * 1024;
  }

  /** A name that nobody can guess, for what only one side is to hear. */
  inbox(): string {
    return this.#library.createInbox();
  }

  /** Sends; what cannot be sent now is lost. */
  publish(subject: string, payload: Uint8Array): void {
    if (this.#isConnected && !this.#connection.isClosed()) {
      this.#connection.publish(subject, payload);
    }
  }

  /** Whether it comes back, if it is away now, within so many milliseconds. */
  async comesBack(ms: number): Promise<boolean> {
    if (this.#isConnected) return true;
    let off = (): void => {};
    const back = new Promise<void>((resolve) => {
      off = this.onReconnect(resolve);
    });
    return settlesWithin(back, ms, 'keepsAlive').finally(off);
  }

  /** Asks whoever listens there; tells apart that nobody does. */
  async ask(subject: string, payload: Uint8Array, ms: number): Promise<Answered> {
    if (this.#connection.isClosed() || !this.#isConnected) return 'silence';
    try {
      const { data } = await this.#connection.request(subject, payload, { timeout: ms });
      return data;
    } catch (error) {
      return this.#isNobody(error) ? 'nobody' : 'silence';
    }
  }

  /** Asks all who listen there: what they answer until nobody has for a while, or that nothing came. */
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
   * Hears what is said there.
   *
   * @param heard Is given a way to answer, where that is wanted.
   * @param queue One of all in it is told.
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

  /** Told whenever the connection has come back. */
  onReconnect(told: () => void): () => void {
    this.#reconnected.add(told);
    return () => this.#reconnected.delete(told);
  }

  /** Settles when all that was said has reached the broker. */
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
  /** Undefined: no answer is wanted. */
  readonly answer: ((data: Uint8Array) => void) | undefined;
}

async function loadLibrary(): Promise<Library> {
  try {
    return await import('@nats-io/transport-node');
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new Error('A fleet needs `npm install @nats-io/transport-node` beside forkline.', {
      cause: error,
    });
  }
}

const LOOPBACK = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/;

/**
 * What is said over a broker is commands and their output: it stays on this machine, or goes by TLS.
 *
 * @throws {InputError} One is no address, has credentials in it, or is another machine's without TLS.
 */
function checkServers(given: unknown, hasTls: boolean): readonly string[] {
  const servers = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(servers) || servers.length === 0) {
    throw new InputError(`servers: expected an address or several, got ${showValue(given)}`);
  }
  return servers.map((server: unknown) => checkServer(server, hasTls));
}

function checkServer(server: unknown, hasTls: boolean): string {
  const text = typeof server === 'string' && !server.includes('://') ? `nats://${server}` : server;
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['nats:', 'tls:'].includes(url.protocol)) {
    throw new InputError(`servers: expected nats://HOST:PORT or tls://…, got ${showValue(server)}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError(
      'servers: expected no credentials in an address, where everybody sees them: give creds, token or user',
    );
  }
  if (url.protocol === 'nats:' && !hasTls && !LOOPBACK.test(url.hostname)) {
    throw new InputError(`servers: expected tls:// for another machine, got ${showValue(server)}`);
  }
  return text === url.href ? url.href : `${url.protocol}//${url.host}`;
}

const TLS_NAMES: OptionNames<TlsFiles> = { ca: true, cert: true, key: true };

/**
 * The files by the names that the library has for them.
 *
 * @throws {InputError} One can't be read: the library would only say so at the broker's.
 */
async function readableFiles(
  given: TlsFiles,
): Promise<{ caFile?: string; certFile?: string; keyFile?: string }> {
  checkObject('tls', given);
  const { ca, cert, key } = readOptions('tls', given, TLS_NAMES, { within: 'tls.' });
  for (const [name, path] of Object.entries({ ca, cert, key })) {
    if (path !== undefined) await contentOf(`tls.${name}`, path);
  }
  return {
    ...(ca !== undefined && { caFile: ca }),
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
  };
}

/** @throws {InputError} It can't be read. */
async function contentOf(name: string, path: string): Promise<Buffer> {
  checkString(name, path);
  try {
    return await readFile(path);
  } catch (error) {
    throw new InputError(`${name}: expected a file that can be read: ${messageOf(error)}`);
  }
}
