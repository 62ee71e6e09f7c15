import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { BashTool } from '../index.js';
import { errorOf } from '../support/errors.js';
import { settlesWithin, startTimer } from '../support/timing.js';
import type { Exchange } from './exchange.js';
import type { McpOptions } from './options.js';
import { buildServer } from './server.js';

/** How long a client may be silent. */
export interface SessionLimits {
  /** Milliseconds since its last request or stream ended. */
  readonly idleMs: number;
  /**
   * Milliseconds likewise, of a client whose stream of notifications was open and has broken off.
   */
  readonly lostMs: number;
}

/** What a session tells of. */
interface SessionEvents {
  /** It has an id, by which its client finds it. */
  opened(id: string): void;
  /** It takes nothing any more. */
  ending(id: string): void;
  /** What it started is gone. */
  ended(): void;
  failed(error: Error): void;
}

/** How long the end of a session waits for its client to take the last answers. */
const ANSWER_MS = 2000;

/** One client over HTTP: a tool, and so a shell state, of its own. */
export class HttpSession {
  readonly #tool: BashTool;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #limits: SessionLimits;
  readonly #exchanges = new Map<Request, Exchange>();
  #listened = false;
  #quietSince = performance.now();
  /** Takes back that it ends when its client stays silent. */
  #stopTimer = (): void => {};
  #ending: Promise<void> | undefined;
  readonly #events: SessionEvents;
  readonly #connected: Promise<void>;

  /** A session that waits for its client's `initialize`. */
  constructor(tool: BashTool, limits: SessionLimits, options: McpOptions, events: SessionEvents) {
    this.#tool = tool;
    this.#limits = limits;
    this.#events = events;
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => events.opened(id),
    });
    this.#transport.onclose = () => void this.end();
    // Its errors are of what the client sent, who has been answered.
    const server = buildServer(tool, options, {
      taken: async (request) => {
        if (request !== undefined) await this.#exchanges.get(request)?.taken();
      },
      // Nothing more comes on its stream, which the SDK would leave open.
      unanswered: (id) => this.#transport.closeSSEStream(id),
    });
    this.#connected = server.connect(this.#transport);
  }

  /** Whether its client has opened it. */
  get isOpen(): boolean {
    return this.#transport.sessionId !== undefined && this.#ending === undefined;
  }

  /**
   * For how long its client has seemed to be gone, in milliseconds; undefined: it does not. That
   * its stream has broken off tells so at once, silence alone only after a while.
   */
  get lostForMs(): number | undefined {
    if (this.#exchanges.size > 0 || this.#ending !== undefined) return undefined;
    const quietMs = performance.now() - this.#quietSince;
    return this.#listened || quietMs >= this.#limits.lostMs ? quietMs : undefined;
  }

  /** Serves one request. Settles when the response has been sent, or can reach nobody. */
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

  /** Ends what it started. Settles when that is gone. */
  end(): Promise<void> {
    // Not at once: closing the transport leads back here.
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
    } catch (error) {
      this.#events.failed(errorOf(error));
    }
    this.#events.ended();
  }

  /** Calls that were under way have an answer now; a client that does not read may miss it. */
  async #answered(): Promise<void> {
    const calls = [...this.#exchanges.values()].filter(({ method }) => method === 'POST');
    await settlesWithin(Promise.all(calls.map(({ ended }) => ended)), ANSWER_MS, 'keepsAlive');
  }

  #restIfQuiet(): void {
    if (this.#exchanges.size > 0 || this.#ending !== undefined) return;
    this.#quietSince = performance.now();
    const { idleMs, lostMs } = this.#limits;
    // Only a client that had listened can be seen to have gone.
    const patience = this.#listened ? Math.min(lostMs, idleMs) : idleMs;
    this.#stopTimer();
    this.#stopTimer = startTimer(patience, () => void this.end(), 'keepsAlive');
  }
}
