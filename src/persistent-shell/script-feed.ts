import type { NamedPipe } from '../engine/local-stream.js';

/** Writes the script of a shell. Text that does not fit into the pipe waits here. */
export class ScriptFeed {
  readonly #pipe: NamedPipe;
  #waiting: Uint8Array = new Uint8Array();
  #isWriting = false;
  #unreadAtEnd: number | undefined;

  constructor(pipe: NamedPipe) {
    this.#pipe = pipe;
  }

  write(line: string): void {
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(line)]);
    if (!this.#isWriting) this.#flush();
  }

  /** The number of written bytes that the shell has not read. */
  get unread(): number {
    return this.#unreadAtEnd ?? this.#waiting.length + (this.#pipe.unread ?? 0);
  }

  close(): void {
    this.#unreadAtEnd ??= this.unread;
    this.#pipe.close();
  }

  async #flush(): Promise<void> {
    this.#isWriting = true;
    do {
      // When nothing can be written any more, the shell's end is reported elsewhere.
      const written = this.#pipe.write(this.#waiting) ?? this.#waiting.length;
      this.#waiting = this.#waiting.subarray(written);
    } while (this.#waiting.length > 0 && (await this.#pipe.whenReady('writing')));
    this.#isWriting = false;
  }
}
