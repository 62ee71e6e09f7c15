import { settlesAtOnce } from './settles-at-once.js';

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
