import { expect, test } from 'vitest';
import { clampTimeout } from '../../../src/contracts/workspace/input/prepare.js';
import { clampNotice } from '../../../src/contracts/workspace/output/result.js';

const limits = { default: 300, min: 1, max: 3600 };

test('the default applies when none is asked for', () => {
  expect(clampTimeout(undefined, limits)).toEqual({ seconds: 300 });
});

test.each([1, 0.5 + 1, 3600])('%d seconds are within the limits', (seconds) => {
  const timeout = clampTimeout(seconds, limits);
  expect(timeout).toEqual({ seconds });
  expect(clampNotice(timeout, limits)).toBeUndefined();
});

test.each([
  [7200, 'Timeout clamped to 3600s (requested 7200s; allowed range 1-3600s).'],
  [99_999_999, 'Timeout clamped to 3600s (requested 99999999s; allowed range 1-3600s).'],
  [0, 'Timeout clamped to 1s (requested 0s; allowed range 1-3600s).'],
  [-1, 'Timeout clamped to 1s (requested -1s; allowed range 1-3600s).'],
  [0.25, 'Timeout clamped to 1s (requested 0.25s; allowed range 1-3600s).'],
])('%d seconds are clamped, and it is said', (seconds, notice) => {
  expect(clampNotice(clampTimeout(seconds, limits), limits)).toBe(notice);
});
