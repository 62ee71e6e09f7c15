import type { Notify, WatchName } from './notify.js';

/** Keeps which of one task's watches were told. */
export interface Ledger {
  /** Whether another host can tell what this one leaves. */
  readonly isShared: boolean;
  /**
   * Marks watches as told, before they are told.
   *
   * @returns The watches that were not marked before: the caller must tell them, or has told them.
   */
  claim(names: readonly WatchName[]): Promise<readonly WatchName[]>;
  /** Notes the position of the output up to which no line has matched. */
  searched(position: number): void;
}

/** The watches of a task, and those of them that were told already. */
export interface WatchOrder {
  readonly notify: Notify;
  readonly ledger: Ledger;
  /** The watches that were told already. Default: none. */
  readonly told?: readonly WatchName[];
  /** Position of the output from which on lines count. Default: 0. */
  readonly since?: number;
}

/** Returns what a host is to tell of a task that ends with it. */
export function hostOrder(notify: Notify): WatchOrder {
  return { notify, ledger: new HostLedger() };
}

/** The watches of a task that ends with its host. */
export class HostLedger implements Ledger {
  readonly isShared = false;
  readonly #told = new Set<WatchName>();

  async claim(names: readonly WatchName[]): Promise<readonly WatchName[]> {
    const fresh = names.filter((name) => !this.#told.has(name));
    for (const name of fresh) this.#told.add(name);
    return fresh;
  }

  searched(): void {}
}
