import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRange } from '../../src/artifacts/read.js';
import type { ArtifactRange } from '../../src/artifacts/store.js';
import { linesOf } from '../support/captures.js';
import { useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

const folder = useFolder();

async function read(text: string, range?: ArtifactRange): Promise<string> {
  const path = folder.file('file');
  writeFileSync(path, text);
  return Buffer.from(await readRange(path, range)).toString();
}

const bound = fc.integer({ min: 0, max: 40 });
const output = fc
  .array(fc.constantFrom('\n', 'a', 'bc', 'é'), { maxLength: 40 })
  .map((parts) => parts.join(''));

test('a range of bytes is read, as far as it exists', async () => {
  await fc.assert(
    fc.asyncProperty(output, bound, bound, async (text, start, length) => {
      const bytes = Buffer.from(text);
      const end = start + length;
      expect(await read(text, { unit: 'bytes', start, end })).toBe(
        bytes.subarray(start, end).toString(),
      );
      expect(await read(text, { unit: 'bytes', start })).toBe(bytes.subarray(start).toString());
    }),
  );
});

test('a range of lines is read, as far as it exists', async () => {
  await fc.assert(
    fc.asyncProperty(output, bound, bound, async (text, from, length) => {
      const start = from + 1;
      const end = start + length;
      const lines = linesOf(text);
      expect(await read(text, { unit: 'lines', start, end })).toBe(
        lines.slice(start - 1, end).join(''),
      );
      expect(await read(text, { unit: 'lines', start })).toBe(lines.slice(start - 1).join(''));
    }),
  );
});

test('a range within a large file is found', async () => {
  const text = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join('');
  expect(await read(text, { unit: 'lines', start: 123_456, end: 123_457 })).toBe(
    '123456\n123457\n',
  );
  expect(await read(text)).toBe(text);
});

test.each([
  [{ unit: 'lines', start: 0 }, 'range.start: expected a whole number of 1 or more, got 0'],
  [{ unit: 'bytes', start: -1 }, 'range.start: expected a whole number of 0 or more, got -1'],
  [{ unit: 'lines', start: 5, end: 4 }, 'range.end: expected a whole number of 5 or more, got 4'],
] satisfies [ArtifactRange, string][])('the range %j is refused', async (range, message) => {
  await expect(read('x', range)).rejects.toThrow(message);
});
