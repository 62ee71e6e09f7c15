import { abortReason, onAbort, throwIfAborted } from '../support/abort.js';
import { startTimer } from '../support/timing.js';
import type { Job } from './job.js';

/**
 * Waits until one of the jobs has ended or the time is up. Meanwhile their ends are for the caller.
 *
 * @throws What the signal was aborted with.
 */
export async function waitForFirst(
  jobs: readonly Job[],
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal) throwIfAborted(signal);
  const running = jobs.filter(({ end }) => end === undefined);
  if (running.length === 0 || jobs.some(({ hasNews }) => hasNews)) return;
  const stop = new AbortController();
  // One listener for all: Node warns of a leak at the eleventh.
  const over = stopped(stop);
  const waits = running.map((job) => job.whileAwaited(() => Promise.race([job.ended, over])));
  let offAbort: (() => void) | undefined;
  // Never keeps the process alive: the commands that are waited for do.
  const stopTimer = startTimer(waitMs, () => stop.abort());
  try {
    await Promise.race([
      ...waits,
      new Promise<never>((_, reject) => {
        offAbort = signal && onAbort(signal, () => reject(abortReason(signal)));
      }),
    ]);
  } finally {
    stopTimer();
    stop.abort();
    offAbort?.();
  }
}

function stopped({ signal }: AbortController): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
