import { expect, test } from 'vitest';

test('one is two', () => {
  expect(1).toBe(2);
});
