import { setImmediate } from 'node:timers';
import { abortReason, onAbort } from './abort.js';

/** The longest delay of Node's timers: a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Whether a timer keeps the process alive. */
type HostHold = 'keepsAlive' | 'letsGo';

/**
 * Calls `then` when the time is up, however long it is.
 *
 * @returns A function that cancels the timer.
 */
export function startTimer(ms: number, then: () => void, hold: HostHold = 'letsGo'): () => void {
  let left = ms;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    const step = Math.min(left, LONGEST_MS);
    left -= step;
    timer = setTimeout(left > 0 ? wait : then, step);
    if (hold === 'letsGo') timer.unref();
  };
  wait();
  return () => clearTimeout(timer);
}

/** Resolves when the time is up. Keeps the process alive until then. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => startTimer(ms, resolve, 'keepsAlive'));
}

/** Those that wait for work to settle, by the work. */
const waiters = new WeakMap<Promise<unknown>, Set<() => void>>();

/**
 * Returns what the first of these to settle returns. Unlike `Promise.race()` it leaves nothing behind on
 * those that go on: such as the end of a process, which is waited for again and again.
 *
 * @throws The error that the first of them throws.
 */
export async function firstOf<T>(...all: readonly Promise<T>[]): Promise<T> {
  const offs: (() => void)[] = [];
  try {
    const { first } = await new Promise<{ first: Promise<T> }>((resolve) => {
      for (const one of all) offs.push(onSettled(one, () => resolve({ first: one })));
    });
    return await first;
  } finally {
    for (const off of offs) off();
  }
}

/**
 * Calls `then` when the work settles.
 *
 * @returns A function that has it not called any more, and frees it.
 */
function onSettled(work: Promise<unknown>, then: () => void): () => void {
  const known = waiters.get(work);
  const waiting = known ?? new Set();
  waiting.add(then);
  if (known === undefined) {
    waiters.set(work, waiting);
    const settle = (): void => {
      waiters.delete(work);
      for (const one of waiting) one();
    };
    // A promise keeps what `then()` is given until it settles: so this is done once.
    work.then(settle, settle);
  }
  return () => waiting.delete(then);
}

/** The number of steps that a wait is divided into, unless it is short. */
const STEPS = 8;
const SHORT_MS = 80;

const LATE = Symbol('late');

/**
 * Waits for work that may never settle. Returns whether it settled in time. While the host's thread is
 * busy, the work cannot go on, and it is not known yet that the work is done: so the time is counted in
 * steps, of which a stretch of busy thread uses up one.
 *
 * @throws The error that the work throws.
 */
export async function settlesWithin(
  work: unknown,
  ms: number,
  hold: HostHold = 'letsGo',
): Promise<boolean> {
  let stop = (): void => {};
  let left = ms < SHORT_MS ? 1 : STEPS;
  const stepMs = Math.ceil(ms / left);
  const late = new Promise<typeof LATE>((resolve) => {
    const step = (): void => {
      if (left === 0) {
        resolve(LATE);
        return;
      }
      left -= 1;
      stop = startTimer(stepMs, step, hold);
    };
    step();
  });
  try {
    return (await firstOf<unknown>(Promise.resolve(work), late)) !== LATE;
  } finally {
    stop();
  }
}

/**
 * Waits for work that may never settle; the work is not stopped.
 *
 * @param ms Never keeps the process alive.
 * @throws The error that the work throws; an error with `message` when the time is up.
 */
export async function withinTime<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  if (await settlesAtOnce(work)) return work;
  if (await settlesWithin(work, ms)) return work;
  throw new Error(message);
}

/**
 * Waits for work until one of the signals is aborted; after that its result is ignored.
 *
 * @throws The error that the work throws, or the reason of an aborted signal.
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
 * Returns whether work settles within a few turns of the microtask queue, since it has nothing to wait
 * for. Then it needs no timer and no listener, which would cost more than the work itself.
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

/** Work in progress, which a `dispose()` has to wait for. */
export class UnderWay {
  readonly #work = new Set<Promise<unknown>>();

  /** Counts the work until it settles, and returns it. */
  add<T>(work: Promise<T>): Promise<T> {
    // The caller must wait for `counted` alone: an error's stack names the awaiting code only as long as
    // one promise waits for `work`.
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

  /** Resolves when all work that is in progress now has settled, successfully or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#work);
  }
}

/** Returns a timer that does nothing: Node's event loop goes on while it has a reference (`ref()`). */
export function makeKeepAlive(): NodeJS.Timeout {
  return setInterval(() => {}, LONGEST_MS).unref();
}

/** Turns of the event loop that were noticed. */
let seen = 0;

/** Notes that a turn of the event loop has begun. To be called by code that handles events from outside. */
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
 * Rejects in the next turn of the event loop. A caller that retries in a loop would otherwise block the
 * event loop, and the host with it.
 */
export async function refused(error: unknown): Promise<never> {
  await nextTurn();
  throw error;
}

/**
 * Does the work, and settles no sooner than in the next turn of the event loop, as {@link refused} does.
 * Work that waits for any event settles when it is done.
 *
 * @throws The error that the work throws.
 */
export async function inLaterTurn<T>(work: () => Promise<T>): Promise<T> {
  const begun = seen;
  try {
    return await work();
  } finally {
    if (seen === begun) await nextTurn();
  }
}
