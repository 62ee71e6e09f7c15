import {
  isInitializeRequest,
  isLegacyRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import type { BashTool } from '../index.js';
import { errorOf } from '../support/errors.js';
import { type Exchange, NO_SUCH_SESSION } from './exchange.js';
import { HttpSession, type SessionLimits } from './http-session.js';
import { PARSE_ERROR } from './message-fault.js';
import type { McpOptions } from './options.js';

/** Options for serving clients. */
interface ClientsOptions {
  /** The only path of the server. */
  readonly path: string;
  readonly createTool: () => BashTool | Promise<BashTool>;
  readonly limits: SessionLimits;
  readonly maxSessions: number;
  readonly maxMessageBytes: number;
  readonly server: McpOptions;
  readonly report: (error: Error) => void;
}

/** The clients of an HTTP server, each with a session of its own. */
export class Clients {
  readonly #options: ClientsOptions;
  /** Sessions that take requests, by their id. */
  readonly #open = new Map<string, HttpSession>();
  /** Sessions of which something may still run. */
  readonly #sessions = new Set<HttpSession>();
  #closed = false;
  /** The number of sessions whose tool is being made, perhaps on another machine. */
  #opening = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Serves one request that was let in. */
  async serve(exchange: Exchange): Promise<void> {
    try {
      await this.#route(exchange);
    } catch (error) {
      if (exchange.isOver) return;
      this.#options.report(errorOf(error));
      exchange.fail();
    }
  }

  /**
   * Ends all sessions, and takes no new ones. Settles when what the sessions have started is gone.
   */
  async end(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions].map((session) => session.end()));
  }

  async #route(exchange: Exchange): Promise<void> {
    if (exchange.path !== this.#options.path) {
      exchange.refuse({ status: 404, message: `Not Found: expected ${this.#options.path}` });
      return;
    }
    if (!exchange.isKnownMethod) {
      const headers = { Allow: 'GET, POST, DELETE' };
      exchange.refuse({ status: 405, message: 'Method Not Allowed', headers });
      return;
    }
    if (exchange.method !== 'POST') {
      await this.#continue(exchange, undefined);
      return;
    }
    const text = await exchange.body(this.#options.maxMessageBytes);
    if (text === undefined) {
      const message = `Payload Too Large: expected at most ${this.#options.maxMessageBytes} bytes`;
      exchange.refuse({ status: 413, message, headers: { Connection: 'close' } });
      return;
    }
    const message = parse(text);
    if (message === undefined) {
      exchange.refuse({ status: 400, message: 'Parse error: expected JSON' }, PARSE_ERROR);
    } else {
      await this.#continue(exchange, message.value);
    }
  }

  async #continue(exchange: Exchange, message: unknown): Promise<void> {
    const id = exchange.header('mcp-session-id');
    if (id !== undefined) {
      const session = this.#open.get(id);
      if (session !== undefined) await session.serve(exchange, message);
      else exchange.refuse({ status: 404, message: 'Session not found' }, NO_SUCH_SESSION);
    } else if (isInitializeRequest(message)) {
      await this.#begin(exchange, message);
    } else {
      await refuseWithoutSession(exchange, message);
    }
  }

  /**
   * Ends a session whose client seems to be gone, if there are too many: many clients never say that
   * they leave.
   */
  async #makeRoom(): Promise<void> {
    while (!this.#closed && this.#sessions.size >= this.#options.maxSessions) {
      let gone: HttpSession | undefined;
      for (const session of this.#sessions) {
        if ((session.lostForMs ?? -1) > (gone?.lostForMs ?? -1)) gone = session;
      }
      if (gone === undefined) return;
      await gone.end();
    }
  }

  async #made(createTool: ClientsOptions['createTool']): Promise<BashTool> {
    this.#opening += 1;
    try {
      return await createTool();
    } finally {
      this.#opening -= 1;
    }
  }

  async #begin(exchange: Exchange, message: unknown): Promise<void> {
    const { createTool, limits, maxSessions, server, report } = this.#options;
    await this.#makeRoom();
    if (this.#closed || this.#sessions.size + this.#opening >= maxSessions) {
      const reason = this.#closed ? 'the server is closing' : `there are ${maxSessions} sessions`;
      const headers = { 'Retry-After': String(Math.ceil(limits.lostMs / 1000)) };
      exchange.refuse({ status: 503, message: `Service Unavailable: ${reason}`, headers });
      return;
    }
    const tool = await this.#made(createTool);
    const session = new HttpSession(tool, limits, server, {
      opened: (id) => void this.#open.set(id, session),
      ending: (id) => void this.#open.delete(id),
      ended: () => void this.#sessions.delete(session),
      failed: report,
    });
    this.#sessions.add(session);
    // The server has closed while the tool was made.
    if (this.#closed) await session.end();
    try {
      await session.serve(exchange, message);
    } finally {
      // The request did not open the session, and no later one can.
      if (!session.isOpen) await session.end();
    }
  }
}

/** Parses a text; `undefined`: it is not JSON. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Refuses a client without a session, and tells it which revisions have sessions. A shell has state, a
 * directory and commands under way, and the newest revision of the protocol has no sessions over HTTP.
 */
async function refuseWithoutSession(exchange: Exchange, message: unknown): Promise<void> {
  if (exchange.method === 'POST' && !(await isLegacyRequest(exchange.toRequest(), message))) {
    const requested = exchange.header('mcp-protocol-version') ?? 'unknown';
    const supported = [...SUPPORTED_PROTOCOL_VERSIONS];
    const {
      code,
      message: text,
      data,
    } = new UnsupportedProtocolVersionError({
      supported,
      requested,
    });
    exchange.refuse({ status: 400, message: text, data, id: idOf(message) }, code);
    return;
  }
  exchange.refuse({ status: 400, message: 'Bad Request: expected an Mcp-Session-Id header' });
}

function idOf(message: unknown): string | number | null {
  if (typeof message !== 'object' || message === null || !('id' in message)) return null;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
