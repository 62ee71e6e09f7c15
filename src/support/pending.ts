/** Work that has begun and not settled: what a `dispose()` has to wait for. */
export class UnderWay {
  readonly #work = new Set<Promise<unknown>>();

  /** Counts it until it settles; gives it back. */
  add<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const forget = (): void => void this.#work.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when what is under way now has settled, however. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#work);
  }
}
