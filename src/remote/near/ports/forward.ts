import { createServer } from 'node:net';
import { NoWorkerError } from '../../errors.js';
import { breakOff } from '../../wire/socket-relay.js';
import { errorFrom, type Thrown } from '../../wire/thrown.js';
import type { FarLine } from '../machine.js';
import type { RelayedPort } from './relayed-port.js';
import { Relays } from './relays.js';

/**
 * Asks a far side whether its clients may reach a port.
 *
 * @throws {InputError} They may not.
 * @throws {NoWorkerError} The far side has gone.
 */
function ask(
  { wire }: FarLine,
  to: { readonly port: number; readonly host: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const lost = (reason: string): void => {
      reject(new NoWorkerError(`The far side has gone: ${reason}`));
    };
    if (wire.isClosed) return lost('the line is closed');
    const ended = (body: unknown): void => {
      const { error } = (body ?? {}) as { readonly error?: Thrown };
      if (error === undefined) resolve();
      else reject(errorFrom(error));
    };
    wire.open({ op: 'port', ...to, isTrial: true }, { ended, lost });
  });
}

/**
 * Listens on loopback here, and connects whoever comes to a port of the far side.
 *
 * @throws Error The port here can't be had.
 */
export async function forwardPort(
  line: FarLine,
  to: { readonly port: number; readonly host: string },
  listen: number,
): Promise<RelayedPort> {
  await ask(line, to);
  const { wire, closed } = line;
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
