import { expect, test } from 'vitest';
import { OutputRing } from '../../src/tasks/output-ring.js';
import { fc } from '../support/properties.js';

const chunk = (text: string, droppedBytes = 0) => ({
  stream: 'output' as const,
  text,
  droppedBytes,
});
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

test('for any pushes and reads, the end of the output is kept, and positions are exact', () => {
  const step = fc.oneof(
    fc.record({ text: fc.string({ maxLength: 40, unit: 'grapheme' }), dropped: fc.constant(0) }),
    fc.record({ text: fc.string({ maxLength: 5000 }), dropped: fc.nat(100) }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 9000 }),
      (steps, max) => {
        const ring = new OutputRing(max);
        // What was printed, with NUL for what was lost on the way.
        let all = Buffer.alloc(0);
        for (const { text, dropped } of steps) {
          const bytes = Buffer.from(text.toWellFormed().replaceAll('\0', ' '), 'utf8');
          ring.push(chunk(bytes.toString('utf8'), dropped));
          all = Buffer.concat([all, Buffer.alloc(dropped), bytes]);
        }
        expect(ring.total).toBe(all.length);
        let position = 0;
        let kept = 0;
        for (;;) {
          const { bytes, from, total } = ring.read(position, 777);
          expect(total).toBe(all.length);
          expect(from).toBeGreaterThanOrEqual(position);
          if (bytes.length === 0) break;
          expect(Buffer.from(bytes).equals(all.subarray(from, from + bytes.length))).toBe(true);
          // What lies between is what was lost, or forgotten.
          if (kept > 0) expect(all.subarray(position, from).every((byte) => byte === 0)).toBe(true);
          kept += bytes.length;
          position = from + bytes.length;
        }
        const printed = all.filter((byte) => byte !== 0).length;
        expect(kept).toBeLessThanOrEqual(max + 4096);
        expect(kept).toBeGreaterThanOrEqual(Math.min(printed, max - 5000 * 3));
      },
    ),
    { numRuns: 300 },
  );
});

test("a gap is reported by the next stretch's position", () => {
  const ring = new OutputRing(1000);
  ring.push(chunk('before'));
  ring.push(chunk('after', 10));
  const first = ring.read(0, 100);
  expect([textOf(first.bytes), first.from, first.total]).toEqual(['before', 0, 21]);
  const second = ring.read(6, 100);
  expect([textOf(second.bytes), second.from]).toEqual(['after', 16]);
  expect(ring.read(21, 100)).toMatchObject({ from: 21, total: 21 });
});

test('a replacement character makes positions inexact, for good', () => {
  const ring = new OutputRing(1000);
  ring.push(chunk('text'));
  expect(ring.isExact).toBe(true);
  ring.push(chunk('a\uFFFDb'));
  ring.push(chunk('text'));
  expect(ring.isExact).toBe(false);
});
