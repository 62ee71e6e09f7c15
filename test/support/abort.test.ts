import { getEventListeners, once } from 'node:events';
import { setImmediate as tick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { onAbort, unlessAborted } from '../../src/support/abort.js';
import { failureOf } from './results.js';

const never = new Promise<never>(() => {});

test('all who wait for a signal are called once, but those who have taken it back', () => {
  const controller = new AbortController();
  const called: string[] = [];
  const call = () => called.push('twice');
  onAbort(controller.signal, call);
  onAbort(controller.signal, call);
  const off = onAbort(controller.signal, () => called.push('off'));
  onAbort(controller.signal, () => {
    called.push('takes the next one back');
    offNext();
  });
  const offNext = onAbort(controller.signal, () => called.push('next'));
  off();
  off();
  controller.abort();
  expect(called).toEqual(['twice', 'twice', 'takes the next one back']);
});

test('a signal has one listener, however many wait, and none when nobody does', () => {
  const { signal } = new AbortController();
  const offs = Array.from({ length: 30 }, () => onAbort(signal, () => {}));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const off of offs) off();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  onAbort(signal, () => {});
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
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
  const unhandled = Promise.race([once(process, 'unhandledRejection'), tick('none')]);
  const reason = new Error('gone');
  expect(await failureOf(unlessAborted(work, AbortSignal.abort(reason)))).toBe(reason);
  fail(new Error('late'));
  expect(await unhandled).toBe('none');
});
