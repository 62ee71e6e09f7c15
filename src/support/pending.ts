/** Work that has begun and not settled: what a `dispose()` has to wait for. */
export class UnderWay {
  readonly #work = new Set<Promise<unknown>>();

  /** Counts it until it settles; gives it back. */
  add<T>(work: Promise<T>): Promise<T> {
    // Nobody else may wait for `work` itself: the stack of what goes wrong later names those who
    // wait only as long as there is one.
    const counted = work.then(
      (value) => {
        this.#work.delete(counted);
        return value;
      },
      (error: unknown) => {
        this.#work.delete(counted);
        throw error;
      },
    );
    this.#work.add(counted);
    return counted;
  }

  /** Resolves when what is under way now has settled, however. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#work);
  }
}
