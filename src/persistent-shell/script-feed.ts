import type { Socket } from 'node:net';
import { onBehalfOfNobody } from '../engine/caller.js';
import { bytesInPipe } from '../engine/local-stream.js';
import { pipeSocket } from './pipe-socket.js';
import type { NamedPipe } from './pipes.js';

/** Writes the script of a shell. Text that does not fit into the pipe waits here. */
export class ScriptFeed {
  readonly #fd: number;
  readonly #socket: Socket;
  #unreadAtEnd: number | undefined;

  constructor({ fd }: NamedPipe) {
    this.#fd = fd;
    // The socket outlives the call in which it is made.
    this.#socket = onBehalfOfNobody(() => pipeSocket(fd, 'out'));
    // When the shell reads no more, its end is reported elsewhere.
    this.#socket.on('error', () => {});
  }

  write(line: string): void {
    this.#socket.write(line);
  }

  /** The number of written bytes that the shell has not read. */
  get unread(): number {
    return this.#unreadAtEnd ?? this.#socket.writableLength + (bytesInPipe(this.#fd) ?? 0);
  }

  close(): void {
    this.#unreadAtEnd ??= this.unread;
    this.#socket.destroy();
  }
}
