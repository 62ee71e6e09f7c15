import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstBytes, lastBytes } from '../../src/support/text.js';

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
