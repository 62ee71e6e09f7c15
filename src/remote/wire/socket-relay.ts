import type { Socket } from 'node:net';
import type { Call } from './call.js';

/** How long a port may take to answer, in milliseconds. */
export const DIAL_MS = 10_000;

/** Bytes of a socket that wait for the line at most. */
const MOST_WAITING = 256 * 1024;

/** What becomes of a relay whose socket is over. */
interface RelayEvents {
  /** The socket is closed: by both sides, or by an error. */
  closed(error: Error | undefined): void;
}

/**
 * Passes bytes between a socket and a call, both ways, each as fast as the other takes them. One direction may end
 * before the other. Sets how the call takes data; the caller sets the rest.
 *
 * @param socket One with `allowHalfOpen`.
 */
export function relay(call: Call, socket: Socket, events: RelayEvents): void {
  let failed: Error | undefined;
  call.events = {
    ...call.events,
    data: (bytes) => {
      if (bytes.length === 0) socket.end();
      else socket.write(bytes, () => call.consumed(bytes.length));
    },
    room: () => socket.resume(),
  };
  socket.on('data', (bytes) => {
    call.sendData(bytes);
    if (call.waiting >= MOST_WAITING) socket.pause();
  });
  socket.on('end', () => call.endData());
  socket.on('error', (error) => {
    failed = error;
  });
  socket.on('close', () => events.closed(failed));
}

/** Ends a socket as a broken connection does, so that its other end does not take it for a whole one. */
export function breakOff(socket: Socket): void {
  if (socket.destroyed) return;
  socket.resetAndDestroy();
}
