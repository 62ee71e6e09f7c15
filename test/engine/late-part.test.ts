import { expect, test } from 'vitest';
import { latePart } from '../../src/engine/late-library.js';

test('a part is loaded when it is first needed, and once', () => {
  const load = latePart<object>('nothing', import.meta.url, 'node:path');
  expect(load()).toHaveProperty('join');
  expect(load()).toBe(load());
});

test('a part that cannot be loaded is asked for again', () => {
  const load = latePart('nothing', import.meta.url, './not-there.js');
  expect(load).toThrow("Cannot find module './not-there.js'");
  expect(load).toThrow("Cannot find module './not-there.js'");
});
