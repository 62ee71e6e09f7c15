import type { Socket } from 'node:net';
import type { Call } from '../../wire/call.js';
import { breakOff, relay } from '../../wire/socket-relay.js';

/** The connections of a relayed port. */
export class Relays {
  readonly #sockets = new Set<Socket>();

  get size(): number {
    return this.#sockets.size;
  }

  /** Passes bytes between a socket here and a call until one of them ends. */
  carry(call: Call, socket: Socket): void {
    this.#sockets.add(socket);
    call.hold(false);
    call.events = {
      // What the far side has sent is written before the socket ends.
      ended: (body) => (hasFailed(body) ? breakOff(socket) : socket.end()),
      lost: () => breakOff(socket),
    };
    relay(call, socket, {
      closed: (error) => {
        this.#sockets.delete(socket);
        if (error !== undefined || !socket.readableEnded) call.cancel();
      },
    });
  }

  breakOff(): void {
    for (const socket of this.#sockets) breakOff(socket);
  }
}

function hasFailed(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !('value' in body);
}
