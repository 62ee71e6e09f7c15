import { abortReason, onAbort, throwIfAborted } from '../support/abort.js';
import { isMissing } from '../support/checks.js';
import { firstOf } from '../support/timing.js';
import type { TaskEnd } from './status.js';
import type { Task } from './task.js';
import type { Awaited, Until } from './wait.js';

/**
 * Returns whether a wait for a port goes on although the task's command has ended: a daemon that it has left
 * may still open one.
 */
export function mayListen({ state }: Pick<Task, 'state'>, { port }: Until): boolean {
  return state === 'left' && !isMissing(port);
}

/** The first event, and its task. */
interface FirstOf {
  readonly task: Task;
  readonly awaited: Awaited;
}

/**
 * Waits until something happens to one of the tasks, or one has ended already. During the wait, the
 * caller gets the tasks' ends. A line counts if no model has seen it yet.
 *
 * @returns 'time': the time was up; undefined: there is nothing to wait for.
 * @throws The reason of the aborted signal.
 */
export async function waitForFirst(
  tasks: readonly Task[],
  until: Until,
  signal: AbortSignal | undefined,
): Promise<FirstOf | 'time' | undefined> {
  if (signal) throwIfAborted(signal);
  const listening = tasks.filter((task) => mayListen(task, until));
  const running = tasks.filter((task) => task.end === undefined || listening.includes(task));
  const hasNews = tasks.some((task) => task.hasNews && !listening.includes(task));
  if (running.length === 0 || hasNews) return undefined;
  // A signal for each task, and one listener on the caller's: Node warns of a leak at the eleventh.
  const stops = running.map(() => new AbortController());
  const stopAll = (): void => {
    for (const stop of stops) stop.abort();
  };
  const offAbort = signal && onAbort(signal, stopAll);
  const waits = running.map((task, index) =>
    task.whileAwaited(() => waitFor(task, until, stops[index]?.signal)),
  );
  try {
    const first = await Promise.race(waits);
    return first.awaited.kind === 'time' ? 'time' : first;
  } catch (error) {
    throw signal?.aborted ? abortReason(signal) : error;
  } finally {
    offAbort?.();
    stopAll();
    await Promise.allSettled(waits);
  }
}

async function waitFor(
  task: Task,
  until: Until,
  signal: AbortSignal | undefined,
): Promise<FirstOf> {
  const { receipt } = task;
  const met = task
    .wait(until, { since: task.seen, signal })
    .then((awaited): FirstOf => ({ task, awaited }));
  const first = await firstOf<FirstOf | TaskEnd>(task.ended, met);
  if ('awaited' in first || mayListen(task, until)) return met;
  return { task, awaited: { kind: 'ended', receipt, running: 0 } };
}
