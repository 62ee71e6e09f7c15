import { Agent } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { hostRoots } from '../secrets/roots.js';

/** The host's trusted certificates: read once, since that takes some milliseconds. */
let trusted: SecureContext | undefined;

/** Connects to one host, one connection at a time. */
export interface Upstream {
  readonly agent: Agent;
  /** Makes a connection of its own. */
  readonly connect: () => Promise<TLSSocket>;
}

/**
 * Creates connections by TLS to one host. Its certificate must be trusted by the host, before any data is
 * sent.
 *
 * @param first A socket that is connected already.
 * @param more Connects further sockets; rejects when there are none.
 */
export function upstreamTo(host: string, first: Socket, more: () => Promise<Socket>): Upstream {
  let next: Socket | undefined = first;
  const open = async (): Promise<TLSSocket> => {
    const socket = next?.destroyed === false ? next : await more();
    next = undefined;
    return secure(socket, host);
  };
  const agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
    createConnection(_: unknown, tell: (error: Error | null, socket?: Socket) => void): void {
      open().then(
        (socket) => tell(null, socket),
        (error) => tell(error),
      );
    },
  });
  return { agent, connect: open };
}

function secure(socket: Socket, host: string): Promise<TLSSocket> {
  trusted ??= createSecureContext({ ca: hostRoots() });
  const name = isIP(host) > 0 ? {} : { servername: host };
  const options = { socket, host, secureContext: trusted, ALPNProtocols: ['http/1.1'], ...name };
  return new Promise((resolve, reject) => {
    const secured = connect(options, () => resolve(secured));
    secured.on('error', (error) => {
      secured.destroy();
      reject(error);
    });
    secured.once('close', () => reject(new Error('the connection was closed')));
  });
}
