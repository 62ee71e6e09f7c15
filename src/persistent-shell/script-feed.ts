import type { Socket } from 'node:net';
import { onBehalfOfNobody } from '../engine/caller.js';
import { bytesInPipe } from '../engine/local-stream.js';
import { pipeSocket } from './pipe-socket.js';
import type { NamedPipe } from './pipes.js';

/** Feeds a shell its script. What it does not read at once waits here. */
export class ScriptFeed {
  readonly #fd: number;
  readonly #socket: Socket;
  #unreadAtEnd: number | undefined;

  constructor({ fd }: NamedPipe) {
    this.#fd = fd;
    // It outlives the call that has it made.
    this.#socket = onBehalfOfNobody(() => pipeSocket(fd, 'out'));
    // A shell that reads no more is told by its end.
    this.#socket.on('error', () => {});
  }

  write(line: string): void {
    this.#socket.write(line);
  }

  /** How many bytes the shell has not read of what it was ever fed. */
  get unread(): number {
    return this.#unreadAtEnd ?? this.#socket.writableLength + (bytesInPipe(this.#fd) ?? 0);
  }

  close(): void {
    this.#unreadAtEnd ??= this.unread;
    this.#socket.destroy();
  }
}
