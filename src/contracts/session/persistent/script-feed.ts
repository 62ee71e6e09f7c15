import type { Socket } from 'node:net';
import { onBehalfOfNobody } from '../../../engine/caller.js';
import { pipeSocket } from './pipe-socket.js';
import type { NamedPipe } from './pipes.js';

/** Feeds a shell its script. What it does not read at once waits here. */
export class ScriptFeed {
  readonly #socket: Socket;

  constructor({ fd }: NamedPipe) {
    // It outlives the call that has it made.
    this.#socket = onBehalfOfNobody(() => pipeSocket(fd, 'out'));
    // A shell that reads no more is told by its end.
    this.#socket.on('error', () => {});
  }

  write(line: string): void {
    this.#socket.write(line);
  }

  close(): void {
    this.#socket.destroy();
  }
}
