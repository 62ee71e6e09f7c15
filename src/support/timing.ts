import { onAbort } from './abort.js';

/** A longer timer would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits for work that may never settle; it is not stopped.
 *
 * @param ms Never keeps the process alive.
 * @throws What the work throws; an error with `message` when the time is up.
 */
export async function withinTime<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  if (await settlesAtOnce(work)) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), Math.min(ms, LONGEST_MS)).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
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
      if (signal?.aborted) reject(signal.reason);
      else if (signal) offs.push(onAbort(signal, () => reject(signal.reason)));
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
