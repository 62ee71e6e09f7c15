import cluster from 'node:cluster';
import { createServer, Socket } from 'node:net';
import type { KeptSecrets } from '../secrets/kept.js';
import type { DenyingRule, DomainRules } from './domains.js';
import { joiningAllowed } from './fronting.js';
import { httpProxy } from './http.js';
import { intercepting, plainRefusal } from './interception.js';
import { closingOnError } from './joined.js';
import { serveSocks } from './socks.js';
import { type ReportDenial, tunnelBy } from './tunnel.js';

/** A host that was denied. */
export interface DeniedHost {
  readonly host: string;
  readonly rule: DenyingRule;
}

/** Denied hosts by plan, the newest last; `at` by `performance.now()`. */
const denied = new Map<string, (DeniedHost & { readonly at: number })[]>();
const MOST_KEPT = 100;
/** The longest name of a host. */
const MOST_SHOWN = 253;
/** The number of served sandboxes, by plan. */
const users = new Map<string, number>();

/** The most simultaneous connections of one sandbox; each takes two file descriptors of the host. */
const MOST_CONNECTIONS = 256;
/** The time for a client to send its request. */
const GREETING_MS = 30_000;
const SOCKS_VERSION = 5;

/** Returns the hosts that commands in sandboxes of a plan were denied since then. */
export function deniedHosts(plan: string, since: number): readonly DeniedHost[] {
  const recent = denied.get(plan)?.filter(({ at }) => at >= since) ?? [];
  return [...new Map(recent.map((one) => [`${one.rule} ${one.host}`, one])).values()];
}

/**
 * Serves a sandbox at the socket of a file descriptor: HTTP with CONNECT, and SOCKS 5, as the client
 * chooses. Does not keep the host alive.
 *
 * @param told Called with each host that is denied.
 * @returns A function that stops serving, to be called when the sandbox is empty; once it is served. Rejects
 * when the socket cannot be listened to.
 */
export async function serveSandbox(
  plan: string,
  descriptor: number,
  rules: DomainRules,
  secrets: KeptSecrets | undefined,
  told: (denied: DeniedHost) => void,
): Promise<() => void> {
  const reportDenial: ReportDenial = (given, rule) => {
    const host = given.slice(0, MOST_SHOWN);
    const hosts = denied.get(plan) ?? [];
    denied.set(plan, hosts);
    hosts.push({ host, rule, at: performance.now() });
    if (hosts.length > MOST_KEPT) hosts.shift();
    told({ host, rule });
  };
  const tunnel = tunnelBy(rules, reportDenial);
  const join = joiningAllowed(rules, reportDenial);
  const handleConnection =
    secrets === undefined ? join : intercepting(secrets, { tunnel, reportDenial, rules, join });
  const http = httpProxy(tunnel, handleConnection, (host, asked) => {
    const why = secrets && plainRefusal(secrets, host, asked);
    if (why !== undefined) reportDenial(host, 'secrets');
    return why;
  });
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    socket.unref();
    // A client that disconnects at any moment is no error of the host.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(GREETING_MS, () => socket.destroy());
    socket.once('readable', () => {
      const first: Buffer | null = socket.read();
      if (first === null) {
        socket.destroy();
        return;
      }
      if (first[0] === SOCKS_VERSION) {
        serveSocks(socket, first, tunnel, handleConnection).catch(() => socket.destroy());
        return;
      }
      closingOnError(socket, () => {
        socket.unshift(first);
        http.emit('connection', socket);
        socket.resume();
      });
    });
    socket.read(0);
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    // A server that listens reports a failed accept here, as for want of descriptors: the client waits.
    server.on('error', reject);
    server.listen(handleOf(descriptor), resolve).unref();
  });
  users.set(plan, (users.get(plan) ?? 0) + 1);
  return () => {
    server.close();
    const others = (users.get(plan) ?? 1) - 1;
    if (others > 0) users.set(plan, others);
    else if (users.delete(plan)) denied.delete(plan);
  };
}

/**
 * Returns what a server listens on. In a worker of `node:cluster` a number would be taken for a descriptor of
 * the primary process.
 */
const handleOf = (descriptor: number): { fd: number } | Socket =>
  cluster.isWorker
    ? new Socket({ fd: descriptor, readable: false, writable: false })
    : { fd: descriptor };
