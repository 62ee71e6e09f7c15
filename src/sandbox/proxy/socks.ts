import type { Socket } from 'node:net';
import type { HandleConnection } from './http.js';
import type { ConnectResult, Tunnel } from './tunnel.js';

const VERSION = 5;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const NO_METHOD = 0xff;
const NOT_SUPPORTED = 7;
const KIND_NOT_SUPPORTED = 8;
const CODES: Readonly<Record<ConnectResult['kind'], number>> = {
  connected: 0,
  denied: 2,
  unreachable: 4,
};

/**
 * Serves one client of SOCKS 5 (RFC 1928), of which `first` has been read already.
 *
 * @throws Error The client has disconnected.
 */
export async function serveSocks(
  client: Socket,
  first: Buffer,
  tunnel: Tunnel,
  handleConnection: HandleConnection,
): Promise<void> {
  const reader = new ByteReader(client, first);
  const [, methods = 0] = await reader.take(2);
  // Only the sandbox's processes reach this loopback, so no authentication is needed.
  const isOpen = (await reader.take(methods)).includes(0);
  client.write(Buffer.from([VERSION, isOpen ? 0 : NO_METHOD]));
  if (!isOpen) {
    client.end();
    return;
  }
  const [, command, , kind] = await reader.take(4);
  const answer = (code: number): void => {
    client.write(Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]));
    if (code !== CODES.connected) client.end();
  };
  const host = await readHost(reader, kind);
  if (host === undefined) return answer(KIND_NOT_SUPPORTED);
  const port = (await reader.take(2)).readUInt16BE();
  if (command !== CONNECT) return answer(NOT_SUPPORTED);
  client.setTimeout(0);
  const reached = await tunnel(host, port);
  answer(CODES[reached.kind]);
  if (reached.kind !== 'connected') return;
  const rest = reader.rest();
  if (rest.length > 0) client.unshift(rest);
  handleConnection(client, reached.socket, host, port);
}

async function readHost(reader: ByteReader, kind: number | undefined): Promise<string | undefined> {
  if (kind === NAME) {
    const [length = 0] = await reader.take(1);
    return (await reader.take(length)).toString('utf8');
  }
  if (kind === IPV4) return [...(await reader.take(4))].join('.');
  if (kind !== IPV6) return undefined;
  const bytes = await reader.take(16);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index));
  return groups.map((group) => group.toString(16)).join(':');
}

/** Reads bytes in their order. */
class ByteReader {
  readonly #client: Socket;
  #buffer: Buffer;

  constructor(client: Socket, first: Buffer) {
    this.#client = client;
    this.#buffer = first;
  }

  /** @throws Error The client has disconnected. */
  async take(count: number): Promise<Buffer> {
    while (this.#buffer.length < count) {
      const chunk: Buffer | null = this.#client.read();
      if (chunk !== null) this.#buffer = Buffer.concat([this.#buffer, chunk]);
      else await readable(this.#client);
    }
    const taken = this.#buffer.subarray(0, count);
    this.#buffer = this.#buffer.subarray(count);
    return taken;
  }

  rest(): Buffer {
    return this.#buffer;
  }
}

/** Waits for more data; removes its listeners each time, since data may come byte by byte. */
function readable(client: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => settle(() => reject(new Error('the client has gone')));
    const more = () => settle(resolve);
    const settle = (then: () => void): void => {
      client.off('readable', more).off('close', gone).off('end', gone);
      then();
    };
    if (client.destroyed || client.readableEnded) return gone();
    client.on('readable', more).on('close', gone).on('end', gone);
  });
}
