import { connect, type LookupFunction, type Socket } from 'node:net';
import { startTimer } from '../../support/timing.js';
import { type DenyingRule, type DomainRules, locate } from './domains.js';
import { canonicalHost } from './hosts.js';

/** The result of connecting to a host. */
export type ConnectResult =
  | { readonly kind: 'connected'; readonly socket: Socket }
  | { readonly kind: 'denied' }
  /** The host is allowed, and does not answer. */
  | { readonly kind: 'unreachable' };

/** Connects to a host, if that is allowed. Never rejects. */
export type Tunnel = (host: string, port: number) => Promise<ConnectResult>;

/** Called with each host that commands are denied. */
export type ReportDenial = (host: string, rule: DenyingRule) => void;

const CONNECT_MS = 30_000;
/** The idle time after which TCP keep-alive probes begin; the kernel's own time-out adds to it. */
const SILENT_MS = 60_000;

const UNKNOWN = { kind: 'unknown' } as const;

/** Creates a tunnel for these rules. */
export function tunnelBy(rules: DomainRules, reportDenial: ReportDenial): Tunnel {
  return async (given, port) => {
    const host = canonicalHost(given);
    if (host === undefined || !isPort(port)) return { kind: 'unreachable' };
    const place = await locate(host, rules).catch(() => UNKNOWN);
    if (place.kind === 'found') return reach(host, place.addresses, port);
    if (place.kind === 'unknown') return { kind: 'unreachable' };
    reportDenial(host, place.rule);
    return { kind: 'denied' };
  };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port <= 0xffff;
}

function reach(host: string, addresses: readonly string[], port: number): Promise<ConnectResult> {
  return new Promise((resolve) => {
    // With the name, Node tries one address after another: only those that were checked.
    const socket = connect({ host, port, lookup: leadingTo(addresses), allowHalfOpen: true });
    socket.unref();
    const inTime = startTimer(CONNECT_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      inTime();
      resolve({ kind: 'unreachable' });
    });
    socket.once('connect', () => {
      inTime();
      socket.setKeepAlive(true, SILENT_MS);
      resolve({ kind: 'connected', socket });
    });
  });
}

function leadingTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_, options, tell) => {
    const [first] = all;
    if (options.all === true) tell(null, all);
    else tell(null, first?.address ?? '', first?.family);
  };
}
