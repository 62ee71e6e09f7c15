import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { hasCode } from '../../../support/errors.js';
import type { KeptSecret, KeptSecrets } from '../secrets/kept.js';
import { findRule } from './domains.js';
import { exchange } from './exchange.js';
import { authorityOf, canonicalHost } from './hosts.js';
import type { Established } from './http.js';
import { Substitution } from './substitution.js';
import type { Deny, Tunnel } from './tunnel.js';
import { upgrade } from './upgrade.js';
import { type Upstream, upstreamTo } from './upstream.js';

const HANDSHAKE_MS = 30_000;
/** How TLS begins: with a record of a handshake. */
const HANDSHAKE = 0x16;
const HTTPS_PORT = 443;
/** What a client says who does not take our certificate for that of the host. */
const NOT_TRUSTED = [
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
] as const;

/** What else there is to do with a connection. */
interface Otherwise {
  readonly tunnel: Tunnel;
  readonly deny: Deny;
  /** With what leads elsewhere, which is not read. */
  readonly join: Established;
}

/** Ends TLS to the domains of secrets, and puts them in there. */
export function intercepting(secrets: KeptSecrets, { tunnel, deny, join }: Otherwise): Established {
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
    whenSpoken(client, first, (isTls) => {
      if (!isTls) {
        join(client, first, host, port);
        return;
      }
      const upstream = upstreamTo(host, first, more);
      client.once('close', () => {
        upstream.agent.destroy();
        first.destroy();
      });
      const server = createServer({
        ...secrets.certify(host),
        ALPNProtocols: ['http/1.1'],
        handshakeTimeout: HANDSHAKE_MS,
      });
      server.on('tlsClientError', (error) => {
        if (NOT_TRUSTED.some((code) => hasCode(error, code))) deny(host, 'secrets');
      });
      serve(server, authorityOf(host, port, HTTPS_PORT), new Substitution(mine), upstream);
      server.emit('connection', client);
    });
  };
}

/** Why a request without TLS is not sent on: it is to have a secret, which would be read on its way. */
export function plainRefusal(
  secrets: KeptSecrets,
  host: string,
  asked: IncomingMessage,
): string | undefined {
  const meant = secretsFor(secrets, host).find((one) => new Substitution([one]).isMeantBy(asked));
  return meant && `the sandbox sends ${meant.name} to ${host} by https alone`;
}

function secretsFor({ all }: KeptSecrets, host: string): readonly KeptSecret[] {
  return all.filter(({ domains }) => findRule(host, domains) !== undefined);
}

function serve(
  server: Server,
  authority: string,
  substitution: Substitution,
  { agent, connect }: Upstream,
): void {
  server.on('request', (asked, answer) => {
    const back = (given: IncomingMessage) => substitution.back(asked, given);
    try {
      exchange(asked, answer, { authority, by: agent, back, ...substitution.there(asked) });
    } catch {
      answer.destroy();
    }
  });
  server.on('upgrade', (asked, client: Socket, head) => {
    client.on('error', () => client.destroy());
    const { path, headers } = substitution.there(asked);
    const back = (given: IncomingMessage) => substitution.back(asked, given);
    connect()
      .then((socket) => upgrade(asked, client, head, { authority, path, headers, socket, back }))
      .catch(() => client.destroy());
  });
  server.on('clientError', (_, client) => client.destroy());
}

/** Once one of both has said something: whether it is the client who begins with TLS. */
function whenSpoken(client: Socket, upstream: Socket, tell: (isTls: boolean) => void): void {
  const settle = (): void => {
    client.off('readable', spoken).off('close', settle);
    upstream.off('readable', settle).off('close', settle);
    const first: Buffer | null = client.read();
    if (first !== null) client.unshift(first);
    tell(first?.[0] === HANDSHAKE);
  };
  const spoken = (): void => {
    if (client.readableLength > 0 || client.readableEnded) settle();
  };
  client.on('readable', spoken).once('close', settle);
  upstream.once('readable', settle).once('close', settle);
}
