import type { OutputChunk } from '../../../engine/outcome.js';

/** Bytes of output that are kept, at least. */
const KEPT_BYTES = 4096;

interface Recent {
  readonly stream: OutputChunk['stream'];
  /** Position of the first byte in the merged output. */
  readonly from: number;
  readonly bytes: Buffer;
}

/** The streams of a command's last output, which a task has merged. */
export class RecentStreams {
  readonly #recent: Recent[] = [];
  #kept = 0;

  /** @param end Position of the merged output behind the chunk. */
  push({ stream, text }: OutputChunk, end: number): void {
    const all = Buffer.from(text, 'utf8');
    // Copied, since a view would keep all of a large chunk.
    const bytes = all.length > KEPT_BYTES ? Buffer.from(all.subarray(-KEPT_BYTES)) : all;
    this.#recent.push({ stream, from: end - bytes.length, bytes });
    this.#kept += bytes.length;
    this.#forget();
  }

  #forget(): void {
    for (;;) {
      const [first] = this.#recent;
      if (first === undefined || this.#kept - first.bytes.length < KEPT_BYTES) return;
      this.#recent.shift();
      this.#kept -= first.bytes.length;
    }
  }

  /** Returns what a stream has between two positions of the merged output. */
  between(stream: OutputChunk['stream'], from: number, to: number): string {
    const found = this.#recent.filter((one) => one.stream === stream);
    const parts = found.map((one) =>
      one.bytes.subarray(Math.max(0, from - one.from), Math.max(0, to - one.from)),
    );
    return Buffer.concat(parts).toString('utf8');
  }
}
