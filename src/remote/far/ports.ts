import { connect, createServer, type Socket } from 'node:net';
import { errorOf, InputError } from '../../support/errors.js';
import { startTimer } from '../../support/timing.js';
import type { Call } from '../wire/call.js';
import type { OpenAccepted, OpenListener, OpenPort } from '../wire/protocol.js';
import { breakOff, relay } from '../wire/socket-relay.js';
import { describeError } from '../wire/thrown.js';
import type { Restriction } from './restriction.js';

/** How long a port may take to answer, in milliseconds. */
const DIAL_MS = 10_000;
/** How long a connection waits for the client to take it, in milliseconds. */
const TAKEN_MS = 10_000;
/** Connections that wait for the client to take them. */
const MOST_WAITING = 128;

/**
 * Connects a client to a port here.
 *
 * @throws {InputError} Clients may not reach it.
 */
export function dialForClient(
  call: Call,
  { port, host }: OpenPort,
  restriction: Restriction,
): void {
  restriction.checkPort(port);
  const socket = connect({ port, host, allowHalfOpen: true });
  const stopTimer = startTimer(DIAL_MS, () => {
    socket.destroy(new Error(`connect ETIMEDOUT ${host}:${port}`));
  });
  socket.on('connect', () => {
    stopTimer();
    call.send({ connected: true });
  });
  carry(call, socket, stopTimer);
}

function carry(call: Call, socket: Socket, closed: () => void = () => {}): void {
  // So that the client does not take it for an end of its own accord.
  let broken: Error | undefined;
  const cancelled = (): void => {
    broken = new Error('the connection was broken off');
    breakOff(socket);
  };
  call.events = { cancelled, lost: cancelled };
  relay(call, socket, {
    closed: (error = broken) => {
      closed();
      call.finish(error === undefined ? { value: null } : { error: describeError(error) });
    },
  });
}

/** Ports of this side whose connections a client takes. */
export class Listeners {
  /** Connections that wait to be taken, by listener and number. */
  readonly #waiting = new Map<string, Socket>();
  readonly #restriction: Restriction;
  #count = 0;

  constructor(restriction: Restriction) {
    this.#restriction = restriction;
  }

  /**
   * Listens for a client.
   *
   * @throws {InputError} Clients may not listen here.
   */
  listen(call: Call, { port, host }: OpenListener): void {
    this.#restriction.checkPort(port);
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const own = new Set<string>();
    let end: unknown = { value: null };
    const close = (): void => {
      server.close();
      for (const key of own) this.#drop(key);
    };
    call.events = { cancelled: close, lost: close };
    server.on('listening', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') call.send({ listening: address.port });
    });
    server.on('connection', (socket) => {
      if (own.size >= MOST_WAITING) return breakOff(socket);
      this.#count += 1;
      const key = `${call.id} ${this.#count}`;
      own.add(key);
      this.#waiting.set(key, socket);
      const stopTimer = startTimer(TAKEN_MS, () => this.#drop(key));
      socket.on('error', () => this.#drop(key));
      socket.once('close', () => this.#drop(key));
      socket.once('resume', () => {
        stopTimer();
        own.delete(key);
      });
      call.send({ connection: this.#count });
    });
    server.on('error', (error) => {
      end = { error: describeError(errorOf(error)) };
      if (!server.listening) call.finish(end);
    });
    server.on('close', () => call.finish(end));
    server.listen(port, host);
  }

  /**
   * Gives a client a connection that has come.
   *
   * @throws {InputError} It is gone, or was given already.
   */
  accept(call: Call, { listener, connection }: OpenAccepted): void {
    const key = `${listener} ${connection}`;
    const socket = this.#waiting.get(key);
    if (socket === undefined) {
      throw new InputError(`connection: expected one that waits, got ${connection}`);
    }
    this.#waiting.delete(key);
    carry(call, socket);
    socket.resume();
  }

  #drop(key: string): void {
    const socket = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (socket !== undefined) breakOff(socket);
  }
}
