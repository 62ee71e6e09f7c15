import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from '../../src/support/abort.js';

test('every callback for a signal is called once, except those that were cancelled', () => {
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

test('a signal has one listener for any number of callbacks, and none without a callback', () => {
  const { signal } = new AbortController();
  const offs = Array.from({ length: 30 }, () => onAbort(signal, () => {}));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const off of offs) off();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  onAbort(signal, () => {});
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});
