import { expect, test } from 'vitest';
import { ansiRow, type ConsoleRow, type TextStyle } from '../../src/index.js';
import { Emulator } from '../../src/terminal/emulator.js';
import { fc } from '../support/properties.js';

const SIZE = { columns: 60, rows: 5 };

test.each<[TextStyle, string]>([
  [{}, 'x'],
  [{ bold: true, inverse: true }, '\x1b[1;7mx\x1b[0m'],
  [
    { foreground: { palette: 200 }, background: { rgb: 0x010203 } },
    '\x1b[38;5;200;48;2;1;2;3mx\x1b[0m',
  ],
])('text with the style %j is %j', (style, text) => {
  expect(ansiRow([{ text: 'x', style }])).toBe(text);
});

const color = fc.oneof(
  fc.record({ palette: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ rgb: fc.integer({ min: 0, max: 0xffffff }) }),
);
const flag = fc.constant(true as const);
const style: fc.Arbitrary<TextStyle> = fc.record(
  {
    foreground: color,
    background: color,
    bold: flag,
    dim: flag,
    italic: flag,
    underline: flag,
    blink: flag,
    inverse: flag,
    invisible: flag,
    strikethrough: flag,
  },
  { requiredKeys: [] },
);

test('a row drawn by its escape sequences looks the same on another terminal', async () => {
  const part = fc.record({
    text: fc.string({ unit: fc.constantFrom('a', 'é', '中', '-'), minLength: 1, maxLength: 5 }),
    style,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (row: ConsoleRow) => {
      const [one, two] = [await Emulator.create(SIZE), await Emulator.create(SIZE)];
      await one.write(ansiRow(row));
      const first = one.frame()?.rows[0] ?? [];
      await two.write(ansiRow(first));
      expect(two.frame()?.rows[0] ?? []).toEqual(first);
      expect(first.map(({ text }) => text).join('')).toBe(row.map(({ text }) => text).join(''));
      one.dispose();
      two.dispose();
    }),
    { numRuns: 50 },
  );
});

test('a frame has the changes since the last one, and there is none without a change', async () => {
  const emulator = await Emulator.create(SIZE);
  await emulator.write('one\r\ntwo\r\nthree');
  expect(emulator.frame()?.changed).toEqual([0, 1, 2, 3, 4]);
  expect(emulator.frame()).toBeUndefined();
  await emulator.write('\x1b[2;1HTWO');
  expect(emulator.frame()?.changed).toEqual([1]);
  await emulator.write('\x1b[?25l');
  expect(emulator.frame()).toMatchObject({ changed: [], cursor: { visible: false } });
  await emulator.write('\x1bc');
  expect(emulator.frame()).toMatchObject({ changed: [0, 1, 2], cursor: { visible: true } });
  emulator.resize({ columns: 61, rows: 6 });
  expect(emulator.frame()?.changed).toHaveLength(6);
  emulator.dispose();
});
