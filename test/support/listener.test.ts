import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Listener } from '../../src/support/listener.js';

test('a listener hears everything until it is stopped', () => {
  const heard: number[] = [];
  const listener = new Listener<number>('onThing', (value) => heard.push(value));
  listener.tell(1);
  listener.tell(2);
  listener.stop();
  listener.tell(3);
  expect(heard).toEqual([1, 2]);
});

test('a listener that throws is reported in a warning and is not called again', async () => {
  let calls = 0;
  const listener = new Listener<number>('onThing', () => {
    calls += 1;
    throw new Error('broken display');
  });
  const warned = once(process, 'warning');
  listener.tell(1);
  listener.tell(2);
  expect(String((await warned)[0])).toBe(
    'Warning: onThing threw, it is not called again: Error: broken display',
  );
  expect([calls, listener.isPresent]).toEqual([1, false]);
});

test('a listener whose promise is rejected is reported as well, once', async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  const listener = new Listener<number>('onThing', async (value) => {
    throw new Error(`broken display ${value}`);
  });
  listener.tell(1);
  listener.tell(2);
  await setImmediate();
  listener.tell(3);
  await setImmediate();
  process.off('warning', note);
  expect(warnings).toEqual(['onThing threw, it is not called again: Error: broken display 1']);
  expect(listener.isPresent).toBe(false);
});
