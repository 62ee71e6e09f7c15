import type { OutputChunk } from '../../../index.js';
import { lastBytes } from '../../../support/text.js';

/** Bytes of a stream that are kept until they are read. */
const MOST_BYTES = 1024 * 1024;

/** Output that was not read yet. Of more than 1 MiB the end is kept, and a line says so. */
export class PendingOutput {
  readonly #output = new PendingText();
  readonly #stdout = new PendingText();
  readonly #stderr = new PendingText();

  add({ stream, text, droppedBytes }: OutputChunk): void {
    this.#output.add(text, droppedBytes);
    (stream === 'stderr' ? this.#stderr : this.#stdout).add(text, droppedBytes);
  }

  /** Returns all output, and forgets it. */
  take(): { readonly output: string; readonly stdout: string; readonly stderr: string } {
    return {
      output: this.#output.take(),
      stdout: this.#stdout.take(),
      stderr: this.#stderr.take(),
    };
  }
}

class PendingText {
  #chunks: { readonly text: string; readonly bytes: number }[] = [];
  #bytes = 0;
  #lost = 0;

  add(text: string, droppedBytes: number): void {
    const bytes = Buffer.byteLength(text);
    this.#chunks.push({ text, bytes });
    this.#bytes += bytes;
    this.#lost += droppedBytes;
    // Whole chunks are dropped while the rest is enough; a chunk from a busy machine may be as large as
    // the limit.
    for (let [first] = this.#chunks; first !== undefined; [first] = this.#chunks) {
      if (this.#bytes - first.bytes < MOST_BYTES) return;
      this.#chunks.shift();
      this.#bytes -= first.bytes;
      this.#lost += first.bytes;
    }
  }

  take(): string {
    const text = lastBytes(this.#chunks.map((chunk) => chunk.text).join(''), MOST_BYTES);
    const lost = this.#lost + this.#bytes - Buffer.byteLength(text);
    this.#chunks = [];
    this.#bytes = 0;
    this.#lost = 0;
    return lost === 0 ? text : `[… ${lost} bytes before this are left out …]\n${text}`;
  }
}
