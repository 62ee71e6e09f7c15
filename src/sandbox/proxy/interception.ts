import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { hasCode } from '../../support/errors.js';
import { startTimer } from '../../support/timing.js';
import type { KeptSecret, KeptSecrets } from '../secrets/kept.js';
import { type DomainRules, denyingRule, findRule } from './domains.js';
import { exchange, refuse } from './exchange.js';
import { authorityOf, canonicalHost, targetAt } from './hosts.js';
import { type HandleConnection, rawAnswer } from './http.js';
import { closingOnError } from './joined.js';
import { Substitution } from './substitution.js';
import type { ReportDenial, Tunnel } from './tunnel.js';
import { upgrade } from './upgrade.js';
import { type Upstream, upstreamTo } from './upstream.js';

const HANDSHAKE_MS = 30_000;
/** The first byte of TLS: a record of a handshake. */
const HANDSHAKE = 0x16;
const HTTPS_PORT = 443;
/** Errors from a client that does not trust our certificate for the host. */
const NOT_TRUSTED = [
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
] as const;

/** The handling of other connections. */
interface OtherConnections {
  readonly tunnel: Tunnel;
  readonly reportDenial: ReportDenial;
  readonly rules: DomainRules;
  /** Joins connections to other hosts, which are not decrypted. */
  readonly join: HandleConnection;
}

/** Terminates TLS to the domains of secrets, and inserts the secrets there. */
export function intercepting(secrets: KeptSecrets, others: OtherConnections): HandleConnection {
  const { tunnel, reportDenial, join } = others;
  return (client, first, given, port) => {
    const host = canonicalHost(given) ?? given;
    const mine = secretsFor(secrets, host);
    if (mine.length === 0) {
      join(client, first, host, port);
      return;
    }
    const more = async (): Promise<Socket> => {
      const reached = await tunnel(host, port);
      if (reached.kind === 'connected') return reached.socket;
      throw new Error("it can't be reached");
    };
    const decrypt = (): void => {
      const upstream = upstreamTo(host, first, more);
      client.once('close', () => {
        upstream.agent.destroy();
        first.destroy();
      });
      // A server of TLS takes no connection that another one has accepted, in Bun.
      const secureContext = createSecureContext(secrets.certify(host));
      const protocols = { ALPNProtocols: ['http/1.1'] };
      const secured = new TLSSocket(client, { isServer: true, secureContext, ...protocols });
      const inTime = startTimer(HANDSHAKE_MS, () => client.destroy());
      secured.once('secure', inTime).once('close', inTime);
      secured.on('error', (error) => {
        if (NOT_TRUSTED.some((code) => hasCode(error, code))) reportDenial(host, 'secrets');
        client.destroy();
      });
      const server = createServer();
      const substitution = new Substitution(mine);
      serve(server, { host, port, substitution, upstream, ...others });
      server.emit('connection', secured);
    };
    onFirstData(client, first, (protocol) => {
      if (protocol === 'other') join(client, first, host, port);
      else closingOnError(client, decrypt);
    });
  };
}

/** Returns why a request without TLS is not forwarded: it needs a secret, which could be read on its way. */
export function plainRefusal(
  secrets: KeptSecrets,
  host: string,
  asked: IncomingMessage,
): string | undefined {
  const meant = secretsFor(secrets, host).find((one) => new Substitution([one]).hasStandIn(asked));
  return meant && `the sandbox sends ${meant.name} to ${host} by https alone`;
}

function secretsFor({ all }: KeptSecrets, host: string): readonly KeptSecret[] {
  return all.filter(({ domains }) => findRule(host, domains) !== undefined);
}

/** A host whose TLS is terminated here, and the means to reach it. */
interface InterceptedHost extends OtherConnections {
  readonly host: string;
  readonly port: number;
  readonly substitution: Substitution;
  readonly upstream: Upstream;
}

/**
 * Forwards the requests for this host, with its name as `Host`. Headers such as `X-Forwarded-Host` pass:
 * how a server uses them is its own decision, and any client of it may send them.
 */
function serve(server: Server, served: InterceptedHost): void {
  const { host, port, substitution, upstream } = served;
  const authority = authorityOf(host, port, HTTPS_PORT);
  server.on('request', (asked, answer) => {
    closingOnError(answer, () => {
      const path = pathIn(asked, served);
      if (path === undefined) {
        refuse(answer, 403, refusal(host));
        return;
      }
      const back = (given: IncomingMessage) => substitution.back(asked, given);
      const there = substitution.there(asked, path);
      exchange(asked, answer, { authority, by: upstream.agent, back, ...there });
    });
  });
  server.on('upgrade', (asked, client: Socket, head) => {
    client.on('error', () => client.destroy());
    closingOnError(client, () => {
      const asksFor = pathIn(asked, served);
      if (asksFor === undefined) {
        client.end(rawAnswer(403, refusal(host)));
        return;
      }
      const { path, headers } = substitution.there(asked, asksFor);
      const back = (given: IncomingMessage) => substitution.back(asked, given);
      upstream
        .connect()
        .then((socket) => upgrade(asked, client, head, { authority, path, headers, socket, back }))
        .catch(() => client.destroy());
    });
  });
  server.on('connect', (asked, client: Socket) => {
    client.on('error', () => client.destroy());
    closingOnError(client, () => {
      pathIn(asked, served);
      client.end(rawAnswer(403, refusal(host)));
    });
  });
  server.on('clientError', (_, client) => client.destroy());
}

/** Reads the path that a request asks this host for. Undefined: it asks another host, which is denied. */
function pathIn(
  asked: IncomingMessage,
  { host, port, rules, reportDenial }: InterceptedHost,
): string | undefined {
  const target = targetAt(host, port, HTTPS_PORT, asked.url ?? '');
  if (target.kind === 'path') return target.path;
  const rule = target.host === undefined ? undefined : denyingRule(target.host, rules);
  if (target.host === undefined || rule === undefined) reportDenial(host, 'secrets');
  else reportDenial(target.host, rule);
  return undefined;
}

function refusal(host: string): string {
  return `within TLS to ${host} the sandbox sends on requests to that host alone`;
}

/** Calls `then` once either side has sent data; it is TLS if it is the client's and begins so. */
function onFirstData(
  client: Socket,
  upstream: Socket,
  then: (protocol: 'tls' | 'other') => void,
): void {
  const settle = (): void => {
    client.off('readable', spoken).off('close', settle);
    upstream.off('readable', settle).off('close', settle);
    const first: Buffer | null = client.read();
    if (first !== null) client.unshift(first);
    then(first?.[0] === HANDSHAKE ? 'tls' : 'other');
  };
  const spoken = (): void => {
    if (client.readableLength > 0 || client.readableEnded) settle();
  };
  client.on('readable', spoken).once('close', settle);
  upstream.once('readable', settle).once('close', settle);
}
