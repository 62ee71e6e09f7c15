import { createServer as createHttpServer, request, type Server } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { type DomainRules, isAllowed } from './domains.js';
import { serveSocks } from './socks.js';
import { type Tunnel, tunnelBy } from './tunnel.js';

/** What has been denied since the beginning, the newest last. */
interface DeniedHost {
  readonly host: string;
  /** By `performance.now()`. */
  readonly at: number;
}

const denied = new Map<string, DeniedHost[]>();
const MOST_KEPT = 100;

/** The hosts that those in the sandbox of a plan were denied since then. */
export function deniedHosts(plan: string, since: number): readonly string[] {
  const recent = denied.get(plan)?.filter(({ at }) => at >= since) ?? [];
  return [...new Set(recent.map(({ host }) => host))];
}

/**
 * Serves a sandbox at the socket that a descriptor is: HTTP with CONNECT, and SOCKS 5, whichever a
 * client speaks. It does not keep the host alive.
 */
export function serveSandbox(plan: string, descriptor: number, rules: DomainRules): void {
  const deny = (host: string): void => {
    const hosts = denied.get(plan) ?? [];
    denied.set(plan, hosts);
    hosts.push({ host, at: performance.now() });
    if (hosts.length > MOST_KEPT) hosts.shift();
  };
  const tunnel = tunnelBy(rules, deny);
  const http = httpProxy(tunnel, rules, deny);
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.once('readable', () => {
      const first: Buffer | null = socket.read();
      if (first === null) return;
      if (first[0] === 5) {
        serveSocks(socket, first, tunnel).catch(() => socket.destroy());
        return;
      }
      socket.unshift(first);
      http.emit('connection', socket);
      socket.resume();
    });
    socket.read(0);
  });
  server.on('error', () => {});
  server.listen({ fd: descriptor });
  server.unref();
}

function httpProxy(tunnel: Tunnel, rules: DomainRules, deny: (host: string) => void): Server {
  const server = createHttpServer((asked, answer) => {
    const refuse = (code: number, why: string): void => {
      answer.writeHead(code, { 'content-type': 'text/plain', connection: 'close' });
      answer.end(`${why}\n`);
    };
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : undefined;
    if (url?.protocol !== 'http:') return refuse(400, 'expected an absolute http: URL');
    if (!isAllowed(url.hostname, rules)) {
      deny(url.hostname);
      return refuse(403, deniedText(url.hostname));
    }
    const headers = { ...asked.headers };
    for (const name of ['proxy-connection', 'proxy-authorization']) delete headers[name];
    tunnel(url.hostname, Number(url.port || 80)).then((socket) => {
      if (socket === undefined) return refuse(502, `${url.host} can't be reached`);
      const { method } = asked;
      const path = `${url.pathname}${url.search}`;
      const forwarded = request({ createConnection: () => socket, method, path, headers });
      forwarded.on('error', () => answer.destroy());
      forwarded.on('response', (given) => {
        answer.writeHead(given.statusCode ?? 502, given.headers);
        given.pipe(answer);
      });
      asked.pipe(forwarded);
    });
  });
  server.on('connect', (asked, socket: Socket, head) => {
    const [, host = '', port = '443'] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(asked.url ?? '') ?? [];
    tunnel(host, Number(port)).then((upstream) => {
      if (upstream === undefined) {
        const text = `${deniedText(host)}\n`;
        socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
        return;
      }
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    });
  });
  server.on('clientError', (_, socket) => socket.destroy());
  return server;
}

function deniedText(host: string): string {
  return `the sandbox does not let commands connect to ${host}`;
}
