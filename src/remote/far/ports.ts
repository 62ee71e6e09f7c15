import { connect, createServer, type Socket } from 'node:net';
import { errorOf, InputError } from '../../support/errors.js';
import { startTimer } from '../../support/timing.js';
import { BusyError } from '../errors.js';
import type { Call } from '../wire/call.js';
import type { OpenAccepted, OpenListener, OpenPort } from '../wire/protocol.js';
import { breakOff, DIAL_MS, relay } from '../wire/socket-relay.js';
import { describeError } from '../wire/thrown.js';
import type { Restriction } from './restriction.js';

/** How long a connection waits for the client to take it, in milliseconds. */
const TAKEN_MS = 10_000;
/** Connections that wait for the client to take them. */
const MOST_WAITING = 128;

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

/** Calls about ports that a client may have under way: connections, and ports that are listened on. */
const MOST_CALLS = 256;

type OpenOfPort = OpenPort | OpenListener | OpenAccepted;

/** A connection that has come, and that the client has not taken yet. */
interface WaitingConnection {
  readonly socket: Socket;
  /** It waits no more. */
  readonly left: () => void;
}

/** The ports that one client has relayed. */
export class ClientPorts {
  readonly #restriction: Restriction;
  readonly #calls = new Set<Call>();
  /** Connections that wait to be taken, by listener and number. */
  readonly #waiting = new Map<string, WaitingConnection>();
  #count = 0;

  constructor(restriction: Restriction) {
    this.#restriction = restriction;
  }

  /** The number of calls under way. */
  get size(): number {
    for (const call of this.#calls) if (call.isOver) this.#calls.delete(call);
    return this.#calls.size;
  }

  /**
   * Begins a call about a port.
   *
   * @throws {InputError} Clients may not reach it, or it is gone.
   * @throws {BusyError} The client has too many.
   */
  begin(call: Call, open: OpenOfPort): void {
    if (this.size >= MOST_CALLS) {
      if (open.op === 'accepted') this.#drop(`${open.listener} ${open.connection}`);
      throw new BusyError(`${MOST_CALLS} connections are under way; nothing was started.`);
    }
    this.#calls.add(call);
    if (open.op === 'port') this.#dial(call, open);
    else if (open.op === 'listener') this.#listen(call, open);
    else this.#accept(call, open);
  }

  #dial(call: Call, { port, host, isTrial }: OpenPort): void {
    this.#restriction.checkPort(port, host);
    if (isTrial === true) {
      call.finish({ value: null });
      return;
    }
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

  #listen(call: Call, { port, host }: OpenListener): void {
    this.#restriction.checkPort(port, host);
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
      const stopTimer = startTimer(TAKEN_MS, () => this.#drop(key));
      const left = (): void => {
        stopTimer();
        own.delete(key);
      };
      this.#waiting.set(key, { socket, left });
      socket.on('error', () => this.#drop(key));
      socket.once('close', () => this.#drop(key));
      call.send({ connection: this.#count });
    });
    server.on('error', (error) => {
      end = { error: describeError(errorOf(error)) };
      if (!server.listening) call.finish(end);
    });
    server.on('close', () => call.finish(end));
    server.listen(port, host);
  }

  /** Gives a client a connection that has come, once. */
  #accept(call: Call, { listener, connection }: OpenAccepted): void {
    const socket = this.#take(`${listener} ${connection}`);
    if (socket === undefined) {
      throw new InputError(`connection: expected one that waits, got ${connection}`);
    }
    carry(call, socket);
    socket.resume();
  }

  /** Returns a connection that waited, which waits no more. */
  #take(key: string): Socket | undefined {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    waiting?.left();
    return waiting?.socket;
  }

  #drop(key: string): void {
    const socket = this.#take(key);
    if (socket !== undefined) breakOff(socket);
  }
}
