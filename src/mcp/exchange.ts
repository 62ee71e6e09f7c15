import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Refusal } from './access.js';

/** The methods of Streamable HTTP. */
const METHODS: readonly string[] = ['GET', 'POST', 'DELETE'];

/** The JSON-RPC code of requests that are refused before they reach the protocol. */
const REFUSED = -32000;
const INTERNAL_ERROR = -32603;
export const NO_SUCH_SESSION = -32001;

/**
 * One request and its response: translates between Node's server and the web's types, which the SDK
 * takes.
 */
export class Exchange {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #gone = new AbortController();
  /** Settles when the response has been sent, or can no longer be delivered. */
  readonly ended: Promise<void>;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    outgoing.on('error', () => {});
    this.ended = new Promise((resolve) => {
      outgoing.once('close', () => {
        // A background command of the call may still listen to the signal.
        if (!outgoing.writableFinished) this.#gone.abort();
        resolve();
      });
    });
  }

  get method(): string {
    return this.#incoming.method ?? '';
  }

  /** The path of the request, without a query. */
  get path(): string {
    return (this.#incoming.url ?? '').split('?', 1)[0] ?? '';
  }

  /** Whether the client has its answer, or has gone. */
  get isOver(): boolean {
    return this.#incoming.socket.destroyed || this.#outgoing.writableEnded;
  }

  get isKnownMethod(): boolean {
    return METHODS.includes(this.method);
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /**
   * Reads the body.
   *
   * @returns The text; `undefined`: it is longer than allowed.
   */
  async body(maxBytes: number): Promise<string | undefined> {
    const chunks: Buffer[] = [];
    let length = 0;
    // Destroying the rest of the request would close the connection before the answer.
    const body: AsyncIterable<Buffer> = this.#incoming.iterator({ destroyOnReturn: false });
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxBytes) {
        this.#incoming.resume();
        return undefined;
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }

  /**
   * Returns the request without its body. Its signal is aborted when the response can no longer be
   * delivered.
   */
  toRequest(): Request {
    const headers = new Headers();
    for (const [name, values] of Object.entries(this.#incoming.headersDistinct)) {
      for (const value of values ?? []) headers.append(name, value);
    }
    const { method } = this;
    return new Request(`http://localhost${this.path}`, {
      method,
      headers,
      signal: this.#gone.signal,
    });
  }

  /** Sends a response as fast as the client takes it. */
  async respond(response: Response): Promise<void> {
    const outgoing = this.#outgoing;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    const reader = response.body?.getReader();
    if (reader === undefined) {
      outgoing.end();
      return;
    }
    // Headers of a stream are sent now: its first event may be a long time coming.
    outgoing.flushHeaders();
    // This also ends a pending read.
    void this.ended.then(() => reader.cancel().catch(() => {}));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!outgoing.write(value)) await this.#drained();
    }
    outgoing.end();
  }

  /** Answers with an error of this server. */
  refuse({ status, message, headers, data, id = null }: Refusal, code = REFUSED): void {
    const error = { code, message, ...(data !== undefined && { data }) };
    this.#outgoing.writeHead(status, { ...headers, 'Content-Type': 'application/json' });
    this.#outgoing.end(JSON.stringify({ jsonrpc: '2.0', error, id }));
  }

  /** Ends the response after a failure of this server, however much of it was sent. */
  fail(): void {
    if (this.#outgoing.headersSent) this.#outgoing.destroy();
    else this.refuse({ status: 500, message: 'Internal server error' }, INTERNAL_ERROR);
  }

  /** Settles when everything so far has been handed to the kernel. */
  async taken(): Promise<void> {
    // The last output is in the response's stream, a few promises away from here.
    await setImmediate();
    await this.#drained();
  }

  async #drained(): Promise<void> {
    const outgoing = this.#outgoing;
    if (!outgoing.writableNeedDrain || outgoing.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        outgoing.off('drain', done).off('close', done);
        resolve();
      };
      outgoing.on('drain', done).on('close', done);
    });
  }
}
