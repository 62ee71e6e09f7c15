import { expect, test } from 'vitest';
import { BoundedOutput } from '../../src/cli/run/bounded-output.js';
import { fc } from '../support/properties.js';

/** What is written, without the mark. */
async function pass(chunks: readonly Uint8Array[], limit: number) {
  const written: Uint8Array[] = [];
  const output = new BoundedOutput(
    async (bytes) => {
      written.push(bytes);
    },
    limit,
    () => '',
  );
  const live: number[] = [];
  for (const chunk of chunks) {
    await output.push(chunk);
    live.push(Buffer.concat(written).length);
  }
  const dropped = await output.finish();
  return { bytes: Buffer.concat(written), live, dropped };
}

const split = (text: string) => [...text].map((character) => Buffer.from(character));

test('output within the limit passes whole', async () => {
  const { bytes, dropped } = await pass(split('hello'), 5);
  expect(bytes.toString()).toBe('hello');
  expect(dropped).toBe(0);
});

test('bytes that are not UTF-8 pass as they are', async () => {
  const binary = Buffer.from([0x80, 0xff, 0xc3, 0x28, 0xe4, 0xb8]);
  const { bytes } = await pass([binary.subarray(0, 3), binary.subarray(3)], 20);
  expect(bytes).toEqual(binary);
});

test('the first half comes live, the last half at the end', async () => {
  const { bytes, live, dropped } = await pass(split('0123456789'), 4);
  expect(live).toEqual([1, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
  expect(bytes.toString()).toBe('0189');
  expect(dropped).toBe(6);
});

test('a limit of nothing shows nothing', async () => {
  const { bytes, dropped } = await pass(split('abc'), 0);
  expect(bytes.length).toBe(0);
  expect(dropped).toBe(3);
});

test('however the output is split, its two ends are shown, cut at characters', async () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 60 });
  const cuts = fc.array(fc.nat(200), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(texts, cuts, fc.integer({ min: 0, max: 80 }), async (text, cuts, limit) => {
      const whole = Buffer.from(text);
      const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length];
      at.sort((a, b) => a - b);
      const chunks = at.slice(1).map((end, index) => whole.subarray(at[index], end));
      const { bytes, live, dropped } = await pass(chunks, limit);
      expect(bytes.length).toBeLessThanOrEqual(limit);
      expect(bytes.length + dropped).toBe(whole.length);
      expect(dropped > 0).toBe(limit < whole.length);
      expect(bytes.toString()).not.toContain('\uFFFD');
      const head = live.at(-1) ?? 0;
      expect(bytes.subarray(0, head)).toEqual(whole.subarray(0, head));
      expect(whole.toString('latin1').endsWith(bytes.toString('latin1', head))).toBe(true);
    }),
  );
});

test.each([
  ['seq', '100\n101\n102\n103\n104\n105\n', 16, '100\n101\n[… 8 bytes not shown …]\n104\n105\n'],
  ['one line', 'abcdefghij', 4, 'ab [… 6 bytes not shown …] ij'],
  ['a long last line', 'a\nb\nc\nabcdefghijklm', 10, 'a\nb\nc\n[… 9 bytes not shown …] jklm'],
  ['a long first line', 'abcdefghijkl\nz\ny\nx\n', 12, 'abcdef [… 7 bytes not shown …]\nz\ny\nx\n'],
])(
  'E2: %s is cut at lines where that is possible, with a mark between',
  async (_, text, limit, shown) => {
    const written: Uint8Array[] = [];
    const output = new BoundedOutput(async (bytes) => void written.push(bytes), limit);
    for (const chunk of split(text)) await output.push(chunk);
    await output.finish();
    expect(Buffer.concat(written).toString()).toBe(shown);
  },
);
