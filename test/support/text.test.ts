import { expect, test } from 'vitest';
import {
  firstBytes,
  formatCount,
  formatSize,
  lastBytes,
  wellFormed,
} from '../../src/support/text.js';
import { fc } from './properties.js';

const texts = fc.string({ unit: 'binary', maxLength: 60 });
const sizes = fc.integer({ min: 0, max: 100 });

test('the last bytes are the longest end that fits', () => {
  fc.assert(
    fc.property(texts, sizes, (text, size) => {
      const end = lastBytes(text, size);
      expect(text.endsWith(end)).toBe(true);
      expect(Buffer.byteLength(end)).toBeLessThanOrEqual(size);
      const [next] = [...text.slice(0, text.length - end.length)].slice(-1);
      if (next !== undefined) expect(Buffer.byteLength(next + end)).toBeGreaterThan(size);
    }),
  );
});

test('the first bytes are the longest beginning that fits', () => {
  fc.assert(
    fc.property(texts, sizes, (text, size) => {
      const beginning = firstBytes(text, size);
      expect(text.startsWith(beginning)).toBe(true);
      expect(Buffer.byteLength(beginning)).toBeLessThanOrEqual(size);
      const [next] = [...text.slice(beginning.length)];
      if (next !== undefined) expect(Buffer.byteLength(beginning + next)).toBeGreaterThan(size);
    }),
  );
});

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

test('H9: text is well-formed, and the same when it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(wellFormed(text)).toBe(text);
    }),
  );
  const unit = fc.integer({ min: 0xd7ff, max: 0xe000 }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      // A lone half does not survive UTF-8.
      expect(Buffer.from(wellFormed(text)).toString()).toBe(wellFormed(text));
    }),
  );
});
