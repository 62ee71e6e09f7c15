import { nextTurn } from '../support/timing.js';

/** Work that pauses from time to time. */
type Steps<T> = Generator<void, T>;

/** Does all of the work at once. */
export function toEnd<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The longest stretch of work, give or take one step, before the event loop runs. */
const TURN_MS = 8;

/** Shares the main thread with other work. */
export class Turns {
  #began = performance.now();

  /** Waits for the next turn of the event loop when this one has been long enough. */
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
