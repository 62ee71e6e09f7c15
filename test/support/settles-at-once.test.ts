import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { settlesAtOnce } from '../../src/support/settles-at-once.js';

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
