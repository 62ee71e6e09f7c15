import { connect } from 'node:net';
import { startTimer } from '../../../support/timing.js';
import { NoWorkerError } from '../../errors.js';
import { breakOff, DIAL_MS } from '../../wire/socket-relay.js';
import { errorFrom, type Thrown } from '../../wire/thrown.js';
import type { FarLine } from '../machine.js';
import type { RelayedPort } from './relayed-port.js';
import { Relays } from './relays.js';

/**
 * Listens on loopback of the far side, and connects whoever comes there to a port here.
 *
 * @throws Error The port there can't be had.
 */
export function reversePort(
  { wire }: FarLine,
  to: { readonly port: number; readonly host: string },
  listen: number,
): Promise<RelayedPort> {
  const relays = new Relays();
  const accept = (connection: number): void => {
    const socket = connect({ ...to, allowHalfOpen: true });
    const stopTimer = startTimer(DIAL_MS, () => breakOff(socket));
    socket.once('connect', stopTimer);
    socket.once('close', stopTimer);
    const open = { op: 'accepted', listener: call.id, connection };
    relays.carry(wire.open(open, { lost: () => {} }), socket);
  };
  let tell: (reason: string) => void = () => {};
  const over = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const end = (reason: string): void => {
    relays.breakOff();
    tell(reason);
  };
  const close = async (): Promise<void> => {
    // Who waits for the end may wait for nothing else.
    call.hold(true);
    call.cancel();
    relays.breakOff();
    await over;
  };
  const { promise, resolve, reject } = withResolvers<RelayedPort>();
  const call = wire.open(
    { op: 'listener', port: listen, host: '127.0.0.1' },
    {
      message: (body) => {
        const told = body as { readonly listening?: number; readonly connection?: number };
        if (told.connection !== undefined) accept(told.connection);
        if (told.listening === undefined) return;
        call.hold(false);
        resolve({
          port: told.listening,
          closed: over,
          get connections() {
            return relays.size;
          },
          close,
          [Symbol.asyncDispose]: close,
        });
      },
      ended: (body) => {
        const { error } = (body ?? {}) as { readonly error?: Thrown };
        const failed = error && errorFrom(error);
        reject(failed ?? new Error('The far side does not listen.'));
        end(failed?.message ?? 'it was closed');
      },
      lost: (reason) => {
        reject(new NoWorkerError(`The far side has gone: ${reason}`));
        end(reason);
      },
    },
  );
  return promise;
}

function withResolvers<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
} {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((settle, fail) => {
    [resolve, reject] = [settle, fail];
  });
  return { promise, resolve, reject };
}
