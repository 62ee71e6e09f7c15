import { expect, test } from 'vitest';
import { formatCount, formatSize } from '../../src/support/size.js';

test.each([
  [0, '0B'],
  [512, '512B'],
  [1023, '1023B'],
  [1024, '1.0KB'],
  [12_595, '12.3KB'],
  [50 * 1024, '50.0KB'],
  [1_048_575, '1.0MB'],
  [1_048_576, '1.0MB'],
  [3 * 1024 ** 3, '3.0GB'],
  [5000 * 1024 ** 4, '5000.0TB'],
])('%i bytes are written %s', (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1234, '1,234'],
  [1_234_567, '1,234,567'],
])('%i is written %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});
