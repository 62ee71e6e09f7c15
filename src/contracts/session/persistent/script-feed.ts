import { Socket } from 'node:net';
import { onBehalfOfNobody } from '../../../engine/caller.js';
import type { NamedPipe } from './pipes.js';

/** Feeds a shell its script. What it does not read at once waits here. */
export class ScriptFeed {
  readonly #socket: Socket;

  constructor({ fd }: NamedPipe) {
    // It outlives the call that has it made.
    this.#socket = onBehalfOfNobody(() => new Socket({ fd, readable: false, writable: true }));
    // A shell that reads no more is told by its end.
    this.#socket.on('error', () => {});
    this.#socket.unref();
  }

  write(line: string): void {
    this.#socket.write(line);
  }

  close(): void {
    this.#socket.destroy();
  }
}
