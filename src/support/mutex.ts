import { abortReason, onAbort, throwIfAborted } from './abort.js';

interface Waiter {
  readonly start: () => void;
  readonly fail: (reason: unknown) => void;
}

/** Runs tasks one at a time, in the order in which they came. */
export class ExclusiveQueue {
  readonly #waiting: Waiter[] = [];
  #busy = false;

  /**
   * Runs a task when its turn comes, and settles as the task does.
   *
   * @param signal Aborting it takes a task that still waits out of the queue, and rejects with the
   * signal's reason. A task that has begun is not affected.
   */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal) throwIfAborted(signal);
    if (this.#busy) await this.#turn(signal);
    this.#busy = true;
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  /** Rejects all tasks that still wait. A task that has begun goes on. */
  clear(reason: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.fail(reason);
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        if (signal) reject(abortReason(signal));
      };
      const stay = signal && onAbort(signal, leave);
      const waiter: Waiter = {
        start: () => {
          stay?.();
          resolve();
        },
        fail: (reason) => {
          stay?.();
          reject(reason);
        },
      };
      this.#waiting.push(waiter);
    });
  }

  #next(): void {
    const waiter = this.#waiting.shift();
    // The queue stays busy when a task waits, so that no other task can begin between the resolved
    // promise and the waiting task's first step.
    if (waiter === undefined) this.#busy = false;
    else waiter.start();
  }
}
