import { createServer } from 'node:net';
import { breakOff } from '../../wire/socket-relay.js';
import type { FarLine } from '../machine.js';
import type { RelayedPort } from './relayed-port.js';
import { Relays } from './relays.js';

/**
 * Listens on loopback here, and connects whoever comes to a port of the far side.
 *
 * @throws Error The port here can't be had.
 */
export async function forwardPort(
  { wire, closed }: FarLine,
  to: { readonly port: number; readonly host: string },
  listen: number,
): Promise<RelayedPort> {
  const relays = new Relays();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (wire.isClosed) breakOff(socket);
    else relays.carry(wire.open({ op: 'port', ...to }, { lost: () => breakOff(socket) }), socket);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  server.unref();
  let tell: (reason: string) => void = () => {};
  const over = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const close = async (reason = 'it was closed'): Promise<void> => {
    // Who waits for the end may wait for nothing else.
    server.ref();
    const left = new Promise((resolve) => server.close(resolve));
    relays.breakOff();
    await left;
    tell(reason);
  };
  void closed.then(close);
  return {
    port,
    closed: over,
    get connections() {
      return relays.size;
    },
    close: () => close(),
    [Symbol.asyncDispose]: () => close(),
  };
}
