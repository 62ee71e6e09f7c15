import { settlesWithin, startTimer } from '../support/timing.js';

/** The outcome of a question to the client. */
export type ClientAnswer<T> =
  | { readonly kind: 'given'; readonly value: T }
  | { readonly kind: 'refused'; readonly error: unknown }
  /** No answer came in time. */
  | { readonly kind: 'none' };

/** Asks the client, and waits `waitMs` at most, since a client may be stuck. */
export async function ask<T>(question: () => Promise<T>, waitMs: number): Promise<ClientAnswer<T>> {
  const outcome = outcomeOf(question);
  return (await settlesWithin(outcome, waitMs)) ? outcome : { kind: 'none' };
}

async function outcomeOf<T>(question: () => Promise<T>): Promise<ClientAnswer<T>> {
  try {
    return { kind: 'given', value: await question() };
  } catch (error) {
    return { kind: 'refused', error };
  }
}

/**
 * Ends the wait for a command with the first reason that is given. It is awaited beside other work; a
 * plain promise would collect a reaction at each of the thousands of polls of a long command.
 */
export class Stop<Reason extends string> {
  #reason: Reason | undefined;
  #wake: (() => void) | undefined;

  get reason(): Reason | undefined {
    return this.#reason;
  }

  tell(reason: Reason): void {
    this.#reason ??= reason;
    this.#wake?.();
  }

  /** Waits for the work, or until there is a reason; then returns undefined. */
  async orWork<T>(work: Promise<T>): Promise<T | undefined> {
    const told = new Promise<undefined>((resolve) => {
      this.#wake = () => resolve(undefined);
      if (this.#reason !== undefined) resolve(undefined);
    });
    try {
      return await Promise.race([told, work]);
    } finally {
      this.#wake = undefined;
    }
  }

  /** Waits for `waitMs`, or until there is a reason. */
  async orTime(waitMs: number): Promise<void> {
    let stopTimer = (): void => {};
    const over = new Promise<void>((resolve) => {
      stopTimer = startTimer(waitMs, resolve);
    });
    try {
      await this.orWork(over);
    } finally {
      stopTimer();
    }
  }
}
