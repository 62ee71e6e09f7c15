import { createServer, type Server } from 'node:http';
import { type BashTool, InputError, type Logger } from '../index.js';
import {
  atLeast,
  checkMethod,
  checkString,
  type OptionNames,
  wholeFrom,
} from '../support/checks.js';
import { showValue } from '../support/errors.js';
import { Access } from './access.js';
import { Clients } from './clients.js';
import { Exchange } from './exchange.js';
import { MCP_OPTION_NAMES, type McpOptions, readServerOptions } from './options.js';
import { type McpService, reportTo } from './service.js';

/** Options of a server on a loopback port. */
export interface HttpOptions extends McpOptions {
  /** The port's number. Default: 0, any free one. */
  readonly port?: number | undefined;
  /** The bearer token of clients. Default: 256 random bits. */
  readonly token?: string | undefined;
  /**
   * Milliseconds after which a client without a request or an open stream is taken for gone. Default:
   * 1,800,000.
   */
  readonly idleMs?: number | undefined;
  /**
   * The same for a client whose stream of notifications was open and has broken off. Default:
   * 60,000.
   */
  readonly lostMs?: number | undefined;
  /** The number of clients at a time. Default: 32. */
  readonly maxSessions?: number | undefined;
  /** Bytes of one message. Default: 4,194,304. */
  readonly maxMessageBytes?: number | undefined;
  /** Takes warnings about problems that fail no call. Default: process warnings. */
  readonly logger?: Logger | undefined;
}

const NAMES: OptionNames<HttpOptions> = {
  ...MCP_OPTION_NAMES,
  port: true,
  token: true,
  idleMs: true,
  lostMs: true,
  maxSessions: true,
  maxMessageBytes: true,
  logger: true,
};

/** A server on a loopback port. */
export interface HttpService extends McpService {
  /** The URL for clients, such as `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /** The token that clients send, as `Authorization: Bearer TOKEN`. */
  readonly token: string;
}

const PATH = '/mcp';
const IDLE_MS = 30 * 60_000;
const LOST_MS = 60_000;
const MAX_SESSIONS = 32;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Serves clients on this machine by Streamable HTTP, each with a tool of its own. All that a client has
 * started ends when the client ends its session, or is taken for gone.
 *
 * Only programs on this machine that know the token are let in; web pages are not.
 *
 * @throws {InputError} An option is not valid.
 * @throws {Error} The port is not available.
 */
export async function serveHttp(
  createTool: () => BashTool | Promise<BashTool>,
  given: HttpOptions = {},
): Promise<HttpService> {
  if (typeof createTool !== 'function') {
    throw new InputError(`createTool: expected a function, got ${showValue(createTool)}`);
  }
  const options = readServerOptions(given, NAMES);
  checkMethod('logger', 'warn', options.logger);
  checkString('token', options.token);
  const port = wholeFrom('port', 0, options.port ?? 0, 65_535);
  const idleMs = atLeast('idleMs', 1, options.idleMs ?? IDLE_MS);
  const lostMs = atLeast('lostMs', 1, options.lostMs ?? LOST_MS);
  const maxSessions = wholeFrom('maxSessions', 1, options.maxSessions ?? MAX_SESSIONS);
  const access = new Access(options.token ?? undefined);
  const report = reportTo(options.logger);
  const clients = new Clients({
    path: PATH,
    createTool,
    limits: { idleMs, lostMs },
    maxSessions,
    maxMessageBytes: wholeFrom('maxMessageBytes', 1, options.maxMessageBytes ?? MAX_MESSAGE_BYTES),
    server: options,
    report,
  });
  const server = createServer((incoming, outgoing) => {
    const exchange = new Exchange(incoming, outgoing);
    const refusal = access.refuse(incoming);
    if (refusal !== undefined) exchange.refuse(refusal);
    else void clients.serve(exchange);
  });
  const address = await listen(server, port);
  server.on('error', report);
  let closing: Promise<void> | undefined;
  let settle: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    url: `http://127.0.0.1:${address}${PATH}`,
    token: access.token,
    closed,
    close: () => {
      closing ??= close(server, clients).then(settle);
      return closing;
    },
  };
}

async function close(server: Server, clients: Clients): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await clients.end();
  server.closeAllConnections();
  await closed;
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('expected a port');
  return address.port;
}
