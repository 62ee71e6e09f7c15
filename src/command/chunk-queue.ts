/**
 * Output on its way to a reader. The engine makes the next delivery only when asked to, so this queue
 * holds one delivery at most; the engine limits how much output waits there.
 */
export class ChunkQueue<Chunk> {
  readonly #askForMore: () => void;
  readonly #left: () => void;
  #waiting: Chunk[] = [];
  #closed = false;
  /** Whether the engine has delivered, and the next delivery is not asked for yet. */
  #owed = false;
  #readers: (() => void)[] = [];

  /**
   * @param askForMore Called when the reader has taken everything and wants more.
   * @param left Called when the reader stops before the end.
   */
  constructor(askForMore: () => void, left: () => void) {
    this.#askForMore = askForMore;
    this.#left = left;
  }

  /** Adds a delivery of the engine. */
  put(chunks: readonly Chunk[]): void {
    this.#waiting.push(...chunks);
    this.#owed = true;
    this.#wake();
  }

  /** Notes that no output follows. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Yields the chunks in order. Two readers share them: each chunk goes to one of the two. */
  async *iterate(): AsyncGenerator<Chunk, void, void> {
    let ended = false;
    try {
      for (;;) {
        const chunk = this.#waiting.shift();
        if (chunk !== undefined) yield chunk;
        else if (this.#closed) break;
        else await this.#next();
      }
      ended = true;
    } finally {
      if (!ended) this.#left();
    }
  }

  #next(): Promise<void> {
    if (this.#owed) {
      this.#owed = false;
      this.#askForMore();
    }
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#readers.splice(0)) resolve();
  }
}
