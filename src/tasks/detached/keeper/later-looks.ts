import { startTimer } from '../../../support/timing.js';

/** Times between two looks, in milliseconds: each is twice the one before. */
const FIRST_MS = 100;
const MOST_MS = 2000;

/** Looks at something that cannot tell of its changes, ever less often, one at a time. */
export class LaterLooks {
  #nextMs = FIRST_MS;
  #isPlanned = false;

  /**
   * Plans the next look, unless one is planned. Does not keep the host alive.
   *
   * @param look Called when it is due; calls `begun` when it begins, so that another can be planned.
   */
  plan(look: (begun: () => void) => unknown): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    startTimer(this.#nextMs, () => void look(() => (this.#isPlanned = false)));
    this.#nextMs = Math.min(MOST_MS, 2 * this.#nextMs);
  }

  /** Makes the next look an early one. */
  reset(): void {
    this.#nextMs = FIRST_MS;
  }
}
