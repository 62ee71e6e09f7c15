import { nextTurn } from '../support/timing.js';

/** Work that pauses now and then. */
type Steps<T> = Generator<void, T>;

/** Does all of it at once. */
export function toEnd<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** So long a stretch of work at most, give or take one step, before the host has its turn. */
const TURN_MS = 8;

/** Shares the main thread with all else that wants it. */
export class Turns {
  #began = performance.now();

  /** Waits for the next turn when this one has been long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < TURN_MS) return;
    await nextTurn();
    this.#began = performance.now();
  }

  async toEnd<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next();
    while (!step.done) {
      await this.pause();
      step = steps.next();
    }
    return step.value;
  }
}
