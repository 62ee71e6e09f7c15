/** Keeps the last `limit` bytes pushed, in memory that grows only as needed. */
export class Ring {
  readonly #limit: number;
  #bytes = Buffer.alloc(0);
  #length = 0;
  /** Position of the oldest byte, once the ring is full. */
  #start = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of bytes that it holds. */
  get length(): number {
    return this.#length;
  }

  /** Appends bytes; returns how many older ones, or of these themselves, were dropped. */
  push(chunk: Buffer): number {
    const before = this.#length;
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#limit));
    const fill = Math.min(kept.length, this.#limit - before);
    this.#append(kept.subarray(0, fill));
    this.#overwrite(kept.subarray(fill));
    return before + chunk.length - this.#length;
  }

  /** Returns a copy of its bytes, oldest first. */
  copy(): Buffer {
    const { length } = this;
    const older = this.#bytes.subarray(this.#start, length);
    return Buffer.concat([older, this.#bytes.subarray(0, this.#start)], length);
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    this.#start = 0;
  }

  #append(fill: Buffer): void {
    const needed = this.#length + fill.length;
    if (needed > this.#bytes.length) {
      // Doubles, but never past the limit, which is a promise about memory.
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(needed, 1024) * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    fill.copy(this.#bytes, this.#length);
    this.#length = needed;
  }

  #overwrite(wrap: Buffer): void {
    if (wrap.length === 0) return;
    const first = Math.min(wrap.length, this.#length - this.#start);
    wrap.copy(this.#bytes, this.#start, 0, first);
    wrap.copy(this.#bytes, 0, first);
    this.#start = (this.#start + wrap.length) % this.#length;
  }
}
