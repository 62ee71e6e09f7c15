import { getEventListeners, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import {
  firstOf,
  inLaterTurn,
  settlesAtOnce,
  settlesWithin,
  startTimer,
  unlessAborted,
  withinTime,
} from '../../src/support/timing.js';
import { failureOf } from './results.js';

const never = new Promise<never>(() => {});
const DAY_MS = 24 * 3600 * 1000;

afterEach(() => {
  vi.useRealTimers();
});

test('work that has nothing to wait for settles at once, also when it fails', async () => {
  const steps = async () => {
    for (let step = 0; step < 5; step += 1) await undefined;
  };
  expect(await settlesAtOnce(steps())).toBe(true);
  expect(await settlesAtOnce(Promise.reject(new Error('no')))).toBe(true);
});

test('work that waits for something does not settle at once, and is not waited for', async () => {
  expect(await settlesAtOnce(nextTurn())).toBe(false);
  expect(await settlesAtOnce(new Promise(() => {}))).toBe(false);
});

test('work is given a turn of its own, whether it fails or not', async () => {
  expect(await settlesAtOnce(inLaterTurn(async () => 1))).toBe(false);
  const reason = new Error('no');
  const fails = async () => {
    throw reason;
  };
  expect(await settlesAtOnce(inLaterTurn(fails))).toBe(false);
  expect(await failureOf(inLaterTurn(fails))).toBe(reason);
});

test('work is waited for until one of the signals is aborted', async () => {
  const [one, other] = [new AbortController(), new AbortController()];
  expect(await unlessAborted(Promise.resolve(1), one.signal, undefined)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error('no')), one.signal)).rejects.toThrow('no');
  const waiting = unlessAborted(never, one.signal, other.signal);
  other.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(unlessAborted(never, other.signal)).rejects.toThrow('enough');
  for (const { signal } of [one, other]) {
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
});

test('work that fails after the wait was aborted causes no unhandled rejection', async () => {
  let fail = (_reason: unknown): void => {};
  const work = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const unhandled = Promise.race([once(process, 'unhandledRejection'), nextTurn('none')]);
  const reason = new Error('gone');
  expect(await failureOf(unlessAborted(work, AbortSignal.abort(reason)))).toBe(reason);
  fail(new Error('late'));
  expect(await unhandled).toBe('none');
});

test('C3: a timer fires after its time, however long that is', () => {
  vi.useFakeTimers();
  const fired: string[] = [];
  startTimer(2 ** 31 - 1, () => fired.push('longest of one'));
  startTimer(2 ** 31, () => fired.push('one more'));
  startTimer(100 * DAY_MS, () => fired.push('a hundred days'));
  const stop = startTimer(50 * DAY_MS, () => fired.push('taken back'));
  startTimer(Number.POSITIVE_INFINITY, () => fired.push('never'));
  vi.advanceTimersByTime(2 ** 31 - 2);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(fired).toEqual(['longest of one', 'one more']);
  stop();
  vi.advanceTimersByTime(100 * DAY_MS - 2 ** 31 - 1);
  expect(fired).toEqual(['longest of one', 'one more']);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(['longest of one', 'one more', 'a hundred days']);
  vi.advanceTimersByTime(365 * DAY_MS);
  expect(fired).toHaveLength(3);
});

test('C3: work is waited for as long as requested', async () => {
  vi.useFakeTimers();
  const waits = [settlesWithin(never, 30 * DAY_MS), withinTime(nextTurn(1), 30 * DAY_MS, 'late')];
  await vi.advanceTimersByTimeAsync(29 * DAY_MS);
  expect(await Promise.race([waits[0], 'still waits'])).toBe('still waits');
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect(await waits[0]).toBe(false);
  expect(await waits[1]).toBe(1);
});

test('a stretch in which the host was busy does not count as time that work has had (Q1)', async () => {
  const work = (async () => {
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
  })();
  const inTime = settlesWithin(work, 200, 'keepsAlive');
  const until = performance.now() + 600;
  while (performance.now() < until);
  expect(await inTime).toBe(true);
  expect(await settlesWithin(never, 200, 'keepsAlive')).toBe(false);
});

test('of several the first to settle counts, whether it fails or not', async () => {
  const reason = new Error('no');
  expect(await firstOf(never, Promise.resolve(1), Promise.resolve(2))).toBe(1);
  expect(await failureOf(firstOf(never, Promise.reject(reason)))).toBe(reason);
  const late = nextTurn().then(() => Promise.reject(reason));
  expect(await firstOf(late, Promise.resolve(1))).toBe(1);
  expect(await failureOf(late)).toBe(reason);
  expect(await failureOf(firstOf(late, never))).toBe(reason);
});

test('what waits for work that goes on leaves nothing with it', async () => {
  const work = new Promise<string>((resolve) => setTimeout(resolve, 50, 'done'));
  const reactions = vi.spyOn(work, 'then');
  for (let time = 0; time < 20; time += 1) {
    expect(await firstOf(work, Promise.resolve('other'))).toBe('other');
    expect(await settlesWithin(work, 0)).toBe(false);
  }
  expect(reactions).toHaveBeenCalledTimes(1);
  expect(await firstOf(work, never)).toBe('done');
  expect(await settlesWithin(work, DAY_MS)).toBe(true);
});
