import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from '../../src/support/abort.js';

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
