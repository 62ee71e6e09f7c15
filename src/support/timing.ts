import { setImmediate } from 'node:timers';
import { abortReason, onAbort } from './abort.js';

/** The longest time that Node's timers know: a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Whether the process stays alive for a timer's sake. */
type Weight = 'keepsAlive' | 'letsGo';

/**
 * Does something when the time is up, however long it is.
 *
 * @returns Takes it back.
 */
export function startTimer(ms: number, then: () => void, weight: Weight = 'letsGo'): () => void {
  let left = ms;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    const step = Math.min(left, LONGEST_MS);
    left -= step;
    timer = setTimeout(left > 0 ? wait : then, step);
    if (weight === 'letsGo') timer.unref();
  };
  wait();
  return () => clearTimeout(timer);
}

/** Settles when the time is up, for which the process stays alive. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => startTimer(ms, resolve, 'keepsAlive'));
}

/** A wait is made of so many, unless it is short anyway. */
const STEPS = 8;
const SHORT_MS = 80;

/**
 * Waits for work that may never settle; whether it has. While the host's thread is busy the work can't
 * go on, and what has been ready for long is not known yet: so the time is counted in steps, of which
 * a stretch without a turn takes one.
 *
 * @throws What the work throws.
 */
export async function settlesWithin(
  work: unknown,
  ms: number,
  weight: Weight = 'letsGo',
): Promise<boolean> {
  let stop = (): void => {};
  let left = ms < SHORT_MS ? 1 : STEPS;
  const stepMs = Math.ceil(ms / left);
  const late = new Promise<boolean>((resolve) => {
    const step = (): void => {
      if (left === 0) {
        resolve(false);
        return;
      }
      left -= 1;
      stop = startTimer(stepMs, step, weight);
    };
    step();
  });
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late]);
  } finally {
    stop();
  }
}

/**
 * Waits for work that may never settle; it is not stopped.
 *
 * @param ms Never keeps the process alive.
 * @throws What the work throws; an error with `message` when the time is up.
 */
export async function withinTime<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  if (await settlesAtOnce(work)) return work;
  if (await settlesWithin(work, ms)) return work;
  throw new Error(message);
}

/**
 * Waits for work until one of the signals is aborted; from then on it is nobody's.
 *
 * @throws What the work throws, or a signal was aborted with.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<T> {
  if (!signals.some((signal) => signal?.aborted) && (await settlesAtOnce(work))) return work;
  const offs: (() => void)[] = [];
  const aborted = new Promise<never>((_, reject) => {
    for (const signal of signals) {
      if (signal?.aborted) reject(abortReason(signal));
      else if (signal) offs.push(onAbort(signal, () => reject(abortReason(signal))));
    }
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    for (const off of offs) off();
  }
}

const TURNS = 24;

/**
 * Whether work has nothing to wait for: it settles within a few turns of the microtask queue. Then
 * it needs no timer and no listener, which would cost more than the work itself.
 */
export async function settlesAtOnce(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  work.then(settle, settle);
  for (let turn = 0; turn < TURNS && !settled; turn += 1) await undefined;
  return settled;
}

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

/** A timer that does nothing: Node's event loop goes on while it has a reference (`ref()`). */
export function makeKeepAlive(): NodeJS.Timeout {
  return setInterval(() => {}, LONGEST_MS).unref();
}

/** Turns of the event loop that somebody has seen. */
let seen = 0;

/** Says that a turn of the event loop has begun: for whoever hears of what happens outside. */
export function turnBegins(): void {
  seen += 1;
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) =>
    setImmediate(() => {
      turnBegins();
      resolve();
    }),
  );
}

/**
 * A rejection in the next turn of the event loop. Whoever tries until it works would else never let
 * anybody else have a turn, and the host would stand still.
 */
export async function refused(error: unknown): Promise<never> {
  await nextTurn();
  throw error;
}

/**
 * Work, which settles no sooner than in the next turn of the event loop, as {@link refused} does. What
 * has waited for anything settles when it does.
 *
 * @throws What the work throws.
 */
export async function inLaterTurn<T>(work: () => Promise<T>): Promise<T> {
  const begun = seen;
  try {
    return await work();
  } finally {
    if (seen === begun) await nextTurn();
  }
}
