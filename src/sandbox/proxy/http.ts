import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { exchange, refuse } from './exchange.js';
import { authorityOf } from './hosts.js';
import type { ConnectResult, Tunnel } from './tunnel.js';

/** Handles an established connection. */
export type HandleConnection = (
  client: Socket,
  upstream: Socket,
  host: string,
  port: number,
) => void;

/** Returns why a request is not forwarded; undefined: it is. */
type RefusalReason = (host: string, asked: IncomingMessage) => string | undefined;

/**
 * Creates an HTTP proxy: requests with a whole URL, and CONNECT. It is given its connections.
 *
 * @param refusalReason Called for requests without TLS.
 */
export function httpProxy(
  tunnel: Tunnel,
  handleConnection: HandleConnection,
  refusalReason: RefusalReason,
): Server {
  const server = createServer((asked, answer) => {
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : undefined;
    if (url?.protocol !== 'http:') return refuse(answer, 400, 'expected an absolute http: URL');
    const port = Number(url.port || 80);
    const forward = (reached: ConnectResult): void => {
      if (reached.kind !== 'connected') {
        refuse(answer, codeOf(reached), refusal(reached, url.hostname));
        return;
      }
      const why = refusalReason(url.hostname, asked);
      if (why !== undefined) {
        reached.socket.destroy();
        refuse(answer, 403, why);
        return;
      }
      // The host in the URL counts: a request to one host must not ask for another's pages.
      const authority = authorityOf(url.hostname, port, 80);
      const path = `${url.pathname}${url.search}`;
      exchange(asked, answer, { authority, path, headers: asked.rawHeaders, by: reached.socket });
    };
    asked.socket.setTimeout(0);
    tunnel(url.hostname, port)
      .then(forward)
      .catch(() => answer.destroy());
  });
  server.on('connect', (asked, client: Socket, head) => {
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(asked.url ?? '') ?? [];
    client.setTimeout(0);
    const connected = (reached: ConnectResult): void => {
      if (reached.kind !== 'connected') {
        client.end(rawAnswer(codeOf(reached), refusal(reached, host)));
        return;
      }
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) client.unshift(head);
      handleConnection(client, reached.socket, host, Number(port));
    };
    tunnel(host, Number(port))
      .then(connected)
      .catch(() => client.destroy());
  });
  server.on('clientError', (_, client) => {
    if (client.writable) client.end(rawAnswer(400, 'expected a request of HTTP/1.1'));
    else client.destroy();
  });
  return server;
}

/** Makes a raw answer, where Node has no response object any more, or not yet. */
export function rawAnswer(code: number, why: string): string {
  const text = `${why}\n`;
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  const lines = [`HTTP/1.1 ${code} ${STATUS_CODES[code]}`, length, 'Connection: close', '', text];
  return lines.join('\r\n');
}

type FailedConnect = Exclude<ConnectResult, { kind: 'connected' }>;

function codeOf({ kind }: FailedConnect): 403 | 502 {
  return kind === 'denied' ? 403 : 502;
}

function refusal({ kind }: FailedConnect, host: string): string {
  return kind === 'denied'
    ? `the sandbox does not let commands connect to ${host}`
    : `${host} can't be reached`;
}
