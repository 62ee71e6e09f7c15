import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { BashTool } from '../index.js';
import { errorOf } from '../support/errors.js';
import { settlesWithin, startTimer } from '../support/timing.js';
import { WholeAnswers } from './answers/whole-answers.js';
import type { Exchange } from './exchange.js';
import type { McpOptions } from './options.js';
import { buildServer } from './server.js';

/** Limits for the silence of a client. */
export interface SessionLimits {
  /** Milliseconds since the last request or stream ended. */
  readonly idleMs: number;
  /**
   * The same in milliseconds, for a client whose stream of notifications was open and has broken off.
   */
  readonly lostMs: number;
}

/** Callbacks of a session. */
interface SessionEvents {
  /** The session has an id, by which its client finds it. */
  opened(id: string): void;
  /** The session takes no more requests. */
  ending(id: string): void;
  /** All that the session has started is gone. */
  ended(): void;
  failed(error: Error): void;
}

/**
 * The time for which the end of a session waits for its client to take the last answers, in
 * milliseconds.
 */
const ANSWER_MS = 2000;

/** One client over HTTP, with a tool, and so a shell state, of its own. */
export class HttpSession {
  readonly #tool: BashTool;
  readonly #answers = new WholeAnswers();
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #limits: SessionLimits;
  readonly #exchanges = new Map<Request, Exchange>();
  #listened = false;
  #quietSince = performance.now();
  /** Stops the timer that ends the session of a silent client. */
  #stopTimer = (): void => {};
  #ending: Promise<void> | undefined;
  readonly #events: SessionEvents;
  readonly #connected: Promise<void>;

  /** Makes a session that waits for its client's `initialize`. */
  constructor(tool: BashTool, limits: SessionLimits, options: McpOptions, events: SessionEvents) {
    this.#tool = tool;
    this.#limits = limits;
    this.#events = events;
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => events.opened(id),
    });
    this.#transport.onclose = () => void this.end();
    // The server's errors are about messages of the client, which was answered.
    const server = buildServer(tool, options, this.#answers, {
      taken: async (request) => {
        if (request !== undefined) await this.#exchanges.get(request)?.taken();
      },
      // Closes the request's stream, which the SDK would leave open.
      unanswered: (id) => this.#transport.closeSSEStream(id),
    });
    this.#connected = server.connect(this.#transport);
  }

  /** Whether the client has opened the session. */
  get isOpen(): boolean {
    return this.#transport.sessionId !== undefined && this.#ending === undefined;
  }

  /**
   * The time for which the client has seemed to be gone, in milliseconds; `undefined`: it does not seem
   * so. A stream that has broken off shows it at once, silence alone only after a while.
   */
  get lostForMs(): number | undefined {
    if (this.#exchanges.size > 0 || this.#ending !== undefined) return undefined;
    const quietMs = performance.now() - this.#quietSince;
    return this.#listened || quietMs >= this.#limits.lostMs ? quietMs : undefined;
  }

  /** Serves one request. Settles when the response has been sent, or can no longer be delivered. */
  async serve(exchange: Exchange, message?: unknown): Promise<void> {
    const request = exchange.toRequest();
    this.#stopTimer();
    this.#exchanges.set(request, exchange);
    try {
      await this.#connected;
      const response = await this.#transport.handleRequest(request, { parsedBody: message });
      if (exchange.method === 'GET' && response.ok) this.#listened = true;
      await exchange.respond(response);
    } finally {
      this.#exchanges.delete(request);
      this.#restIfQuiet();
    }
  }

  /** Ends all that the session has started. Settles when that is gone. */
  end(): Promise<void> {
    // In a later turn, since closing the transport leads back here.
    this.#ending ??= Promise.resolve().then(() => this.#end());
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#stopTimer();
    const id = this.#transport.sessionId;
    if (id !== undefined) this.#events.ending(id);
    try {
      await this.#tool.dispose();
      await this.#answered();
      await this.#transport.close();
      await this.#answers.dispose();
    } catch (error) {
      this.#events.failed(errorOf(error));
    }
    this.#events.ended();
  }

  /**
   * Settles when calls that were under way have been answered; a client that does not read may miss the
   * answer.
   */
  async #answered(): Promise<void> {
    const calls = [...this.#exchanges.values()].filter(({ method }) => method === 'POST');
    await settlesWithin(Promise.all(calls.map(({ ended }) => ended)), ANSWER_MS, 'keepsAlive');
  }

  #restIfQuiet(): void {
    if (this.#exchanges.size > 0 || this.#ending !== undefined) return;
    this.#quietSince = performance.now();
    const { idleMs, lostMs } = this.#limits;
    // Only a client that has listened before can be seen to leave.
    const patience = this.#listened ? Math.min(lostMs, idleMs) : idleMs;
    this.#stopTimer();
    this.#stopTimer = startTimer(patience, () => void this.end(), 'keepsAlive');
  }
}
