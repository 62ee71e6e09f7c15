import type { WatchName } from './notify.js';

/** What was told already of one task's watches. */
export interface Ledger {
  /**
   * Marks watches as told, before they are told.
   *
   * @returns Those that nobody has marked before: the caller must tell them, or has told them.
   */
  claim(names: readonly WatchName[]): Promise<readonly WatchName[]>;
  /** Notes the position of the output up to which no line has matched. */
  searched(position: number): void;
}

/** The watches of a task that ends with its host. */
export class HostLedger implements Ledger {
  readonly #told = new Set<WatchName>();

  async claim(names: readonly WatchName[]): Promise<readonly WatchName[]> {
    const fresh = names.filter((name) => !this.#told.has(name));
    for (const name of fresh) this.#told.add(name);
    return fresh;
  }

  searched(): void {}
}
