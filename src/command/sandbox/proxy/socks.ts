import type { Socket } from 'node:net';
import type { Tunnel } from './tunnel.js';

const VERSION = 5;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const SUCCEEDED = 0;
const NOT_ALLOWED = 2;
const NOT_SUPPORTED = 7;

/** Serves one client of SOCKS 5 (RFC 1928), of which `first` has come already. */
export async function serveSocks(socket: Socket, first: Buffer, tunnel: Tunnel): Promise<void> {
  const reader = new Reader(socket, first);
  const [, methods = 0] = await reader.take(2);
  await reader.take(methods);
  // Nobody else is in this loopback.
  socket.write(Buffer.from([VERSION, 0]));
  const [, command, , kind] = await reader.take(4);
  const host = await readHost(reader, kind);
  const port = (await reader.take(2)).readUInt16BE();
  const answer = (code: number): void => {
    socket.write(Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]));
  };
  if (command !== CONNECT || host === undefined) {
    answer(NOT_SUPPORTED);
    socket.end();
    return;
  }
  const upstream = await tunnel(host, port);
  answer(upstream === undefined ? NOT_ALLOWED : SUCCEEDED);
  if (upstream === undefined) {
    socket.end();
    return;
  }
  upstream.write(reader.rest());
  socket.pipe(upstream).pipe(socket);
}

async function readHost(reader: Reader, kind: number | undefined): Promise<string | undefined> {
  if (kind === NAME) {
    const [length = 0] = await reader.take(1);
    return (await reader.take(length)).toString('latin1');
  }
  if (kind === IPV4) return [...(await reader.take(4))].join('.');
  if (kind !== IPV6) return undefined;
  const bytes = await reader.take(16);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index));
  return groups.map((group) => group.toString(16)).join(':');
}

/** Bytes in the order in which they come. */
class Reader {
  readonly #socket: Socket;
  #buffer: Buffer;

  constructor(socket: Socket, first: Buffer) {
    this.#socket = socket;
    this.#buffer = first;
  }

  /** @throws Error The client has gone. */
  async take(count: number): Promise<Buffer> {
    while (this.#buffer.length < count) {
      const chunk: Buffer | null = this.#socket.read();
      if (chunk !== null) this.#buffer = Buffer.concat([this.#buffer, chunk]);
      else await readable(this.#socket);
    }
    const taken = this.#buffer.subarray(0, count);
    this.#buffer = this.#buffer.subarray(count);
    return taken;
  }

  rest(): Buffer {
    return this.#buffer;
  }
}

function readable(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed || socket.readableEnded) reject(new Error('the client has gone'));
    socket.once('readable', resolve);
    socket.once('close', () => reject(new Error('the client has gone')));
  });
}
