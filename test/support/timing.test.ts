import { getEventListeners, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { settlesAtOnce, unlessAborted } from '../../src/support/timing.js';
import { failureOf } from './results.js';

const never = new Promise<never>(() => {});

test('work that has nothing to wait for does, also when it fails', async () => {
  const steps = async () => {
    for (let step = 0; step < 5; step += 1) await undefined;
  };
  expect(await settlesAtOnce(steps())).toBe(true);
  expect(await settlesAtOnce(Promise.reject(new Error('no')))).toBe(true);
});

test('work that waits for something does not, and nobody waits for it', async () => {
  expect(await settlesAtOnce(nextTurn())).toBe(false);
  expect(await settlesAtOnce(new Promise(() => {}))).toBe(false);
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

test('work that fails when nobody waits for it any more disturbs nobody', async () => {
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
