import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type BytesChunk, type Capture, type OutputChunk, run, spawn } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const folder = useFolder();

const decode = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\0', '␀');

/** The counts of output, by the platform's own decoder. */
function countsOf(bytes: Uint8Array) {
  const newlines = bytes.filter((byte) => byte === 10).length;
  const lines = newlines + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0);
  return { bytes: bytes.length, characters: [...decode(bytes)].length, lines };
}

/** Has `cat` print these bytes. */
function printing(bytes: Uint8Array): string {
  writeFileSync(folder.file('bytes'), bytes);
  return `cat ${folder.file('bytes')}`;
}

const nasty = fc.oneof(
  fc.constantFrom(...'a\n\r\0é中😀\u{10FFFF}\uFEFF').map((text) => Buffer.from(text)),
  // Severed, overlong, surrogate, out of range, lone continuation.
  fc
    .constantFrom('e4b8', 'f09f98', 'c080', 'eda080', 'f4908080', '80', 'ff', 'e2')
    .map((hex) => Buffer.from(hex, 'hex')),
  fc.uint8Array({ maxLength: 5 }),
);
const output = fc.array(nasty, { maxLength: 200 }).map((parts) => Buffer.concat(parts));
// A NUL is shown as '␀', so that sizes could not be told from the text if there were one in it.
const text = fc
  .string({ unit: 'grapheme', maxLength: 400 })
  .map((value) => Buffer.from(value.replaceAll('␀', '')));

const small = { headBytes: 16, tailBytes: 16 };

test('whatever bytes a command prints, they are counted as the platform decodes them', async () => {
  await fc.assert(
    fc.asyncProperty(output, async (bytes) => {
      const { output: capture } = await run(printing(bytes));
      expect(capture.total).toEqual(countsOf(bytes));
      if (capture.kind === 'cut') throw new Error('expected all of it to be kept');
      expect(capture.text).toBe(decode(bytes));
      const exact = Buffer.from(capture.text).equals(bytes);
      expect(capture.lossy).toBe(!exact);
    }),
    { numRuns: 150 },
  );
});

test('when output is cut, head, dropped and tail add up to the total', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (bytes) => {
      const { output: capture } = await run(printing(bytes), small);
      expect(capture.total).toEqual(countsOf(bytes));
      expectToAddUp(capture, bytes);
    }),
    { numRuns: 150 },
  );
});

function expectToAddUp(capture: Capture, bytes: Uint8Array) {
  if (capture.kind === 'complete') {
    expect(bytes.length).toBeLessThanOrEqual(small.headBytes + small.tailBytes);
    return;
  }
  const { head, tail, dropped, total } = capture;
  const whole = decode(bytes);
  expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
  const missing = whole.slice(head.length, whole.length - tail.length);
  const sizes = [head, missing, tail].map((part) => Buffer.byteLength(part.replaceAll('␀', '\0')));
  expect(sizes[1]).toBe(dropped.bytes);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(total.bytes);
  expect([...missing].length).toBe(dropped.characters);
  expect(missing.split('\n').length - 1).toBe(dropped.lines);
  // No more is dropped than the limits ask for, but for the character at each cut.
  expect(Buffer.byteLength(head)).toBeGreaterThan(small.headBytes - 4);
  expect(Buffer.byteLength(tail)).toBeGreaterThan(small.tailBytes - 4);
}

test('when bytes that are no text are cut, the counts of bytes add up', async () => {
  await fc.assert(
    fc.asyncProperty(output, async (bytes) => {
      const { output: capture } = await run(printing(bytes), small);
      expect(capture.total).toEqual(countsOf(bytes));
      if (capture.kind === 'complete') return;
      const kept = capture.total.bytes - capture.dropped.bytes;
      expect(kept).toBeLessThanOrEqual(small.headBytes + small.tailBytes);
      expect(decode(bytes).startsWith(capture.head.replace(/\uFFFD+$/, ''))).toBe(true);
      expect(decode(bytes).endsWith(capture.tail.replace(/^\uFFFD+/, ''))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test.each([
  [{ headBytes: 0, tailBytes: 10 }, '', '98\n99\n100\n'],
  [{ headBytes: 10, tailBytes: 0 }, '1\n2\n3\n4\n5\n', ''],
  [{ headBytes: 4, tailBytes: 4 }, '1\n2\n', '100\n'],
  [{ headBytes: 0, tailBytes: 0 }, '', ''],
])('with %j the head is %j and the tail %j', async (limits, head, tail) => {
  const { output: capture } = await run('seq 1 100', limits);
  const bytes = 292 - head.length - tail.length;
  const lines = 100 - `${head}${tail}`.split('\n').length + 1;
  expect(capture).toEqual({
    kind: 'cut',
    head,
    tail,
    total: { bytes: 292, characters: 292, lines: 100 },
    dropped: { bytes, characters: bytes, lines },
    lastLineBytes: 3,
    lossy: false,
  });
});

test('output that exactly fits is not cut', async () => {
  const limits = { headBytes: 146, tailBytes: 146 };
  expect((await run('seq 1 100', limits)).output.kind).toBe('complete');
  const tooSmall = { headBytes: 146, tailBytes: 145 };
  expect((await run('seq 1 100', tooSmall)).output).toMatchObject({
    kind: 'cut',
    dropped: { bytes: 1, characters: 1 },
  });
});

test('hundreds of megabytes are counted exactly', async () => {
  const { output: capture } = await run('head -c 300000001 /dev/zero | tr "\\0" "\\n"');
  expect(capture.total).toEqual({
    bytes: 300_000_001,
    characters: 300_000_001,
    lines: 300_000_001,
  });
  expect(capture.kind === 'cut' && capture.head.length + capture.tail.length).toBe(262_144);
});

test('text chunks put together are the decoded output, however the bytes come', async () => {
  await fc.assert(
    fc.asyncProperty(output, fc.integer({ min: 1, max: 40 }), async (bytes, size) => {
      const chunks: OutputChunk[] = [];
      const command = `${printing(bytes)} | python3 -c "
import os
while b := os.read(0, ${size}): os.write(1, b)"`;
      const result = await run(command, { onOutput: (chunk) => chunks.push(chunk) });
      expect(chunks.map((chunk) => chunk.text).join('')).toBe(decode(bytes));
      expect(result.output).toMatchObject({ total: { bytes: bytes.length } });
    }),
    { numRuns: 25 },
  );
});

test('byte chunks put together are the exact output', async () => {
  await fc.assert(
    fc.asyncProperty(output, async (bytes) => {
      const live = await spawn(printing(bytes), { encoding: 'bytes' });
      const chunks: BytesChunk[] = [];
      for await (const chunk of live) chunks.push(chunk);
      expect(Buffer.concat(chunks.map((chunk) => chunk.bytes)).equals(bytes)).toBe(true);
    }),
    { numRuns: 40 },
  );
});
