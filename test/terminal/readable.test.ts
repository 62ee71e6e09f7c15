import { expect, test } from 'vitest';
import { readableText } from '../../src/terminal/readable.js';
import { whileBusy } from '../support/busy-host.js';
import { fc } from '../support/properties.js';

const SIZE = { columns: 80, rows: 24 };

test.each([
  ['colours', '\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\r\n', 'red and bold\n'],
  ['a progress bar', '10%\r50%\r100%\r\ndone\r\n', '100%\ndone\n'],
  ['a bar that is erased', 'working...\r\x1b[Kdone\r\n', 'done\n'],
  ['line editing', 'echp\b \bo hi\r\nhi\r\n', 'echo hi\nhi\n'],
  ['lines drawn again', 'a 1\r\nb 1\r\n\x1b[2A\x1b[Ka 2\r\n\x1b[Kb 2\r\n', 'a 2\nb 2\n'],
  ['a hyperlink', '\x1b]8;;https://x.y\x1b\\text\x1b]8;;\x1b\\\r\n', 'text\n'],
  ['a title', '\x1b]0;title\x07text', 'text\n'],
  ['a sequence without an end', 'text\x1b[3', 'text\n'],
  ['a full-screen program that has ended', 'a\r\n\x1b[?1049h\x1b[2Jfull\x1b[?1049lb\r\n', 'a\nb\n'],
  ['a full-screen program that runs', 'a\r\n\x1b[?1049h\x1b[2J\x1b[Hfull', 'a\nfull\n'],
  ['nothing', '', ''],
  ['nothing to see', '\x1b[?25l\x1b[?25h\r\n\r\n', ''],
  ['a blank line in the middle', 'a\r\n\r\nb', 'a\n\nb\n'],
])('%s: the text is what the terminal shows', async (_, raw, text) => {
  expect(await readableText(raw, SIZE)).toBe(text);
});

test('long lines are whole, wide characters too', async () => {
  for (const line of ['x'.repeat(1000), `a${'中'.repeat(300)}`, '中'.repeat(300)]) {
    expect(await readableText(`${line}\r\nnext\r\n`, SIZE)).toBe(`${line}\nnext\n`);
  }
});

test('rows that scroll off are kept, however many there are', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index}`);
  expect(await readableText(lines.join('\r\n'), SIZE)).toBe(`${lines.join('\n')}\n`);
  const blank = `first${'\r\n'.repeat(15_000)}last`;
  expect(await readableText(blank, SIZE)).toBe(`first${'\n'.repeat(15_000)}last\n`);
});

test('clearing the screen and the scrollback keeps the rows that were collected before', async () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `${index}\r\n`).join('');
  const text = await readableText(`${lines}\x1b[H\x1b[2J\x1b[3Jafter`, SIZE);
  expect(text.startsWith('0\n1\n2\n')).toBe(true);
  expect(text.endsWith('\nafter\n')).toBe(true);
});

test('plain lines come out as they went in, on a terminal of any size', async () => {
  const line = fc.string({
    unit: fc.constantFrom('a', 'B', '1', '-', ' ', 'é', '中'),
    maxLength: 90,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line.map((text) => text.trimEnd())),
      fc.record({
        columns: fc.integer({ min: 20, max: 100 }),
        rows: fc.integer({ min: 5, max: 50 }),
      }),
      async (lines, size) => {
        const text = await readableText(lines.join('\r\n'), size);
        expect(text.trimEnd()).toBe(lines.join('\n').trimEnd());
      },
    ),
    { numRuns: 60 },
  );
});

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('text ', '中', '😀', '\r\n', '\n', '\r', '10%\r') },
  fc.constantFrom('\x1b[31m', '\x1b[K', '\x1b[2J', '\x1b[3J', '\x1bc', '\x1b[2;9r', '\x1bM'),
  fc.constantFrom('\x1b[?1049h', '\x1b[?1049l', '\x1b[400S', '\x1b[9L', '\x1b[H', '\x1b[400b'),
);

test('the same output gives the same text, however busy the host is (Q1)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(piece, fc.integer({ min: 1, max: 700 })), { minLength: 1, maxLength: 12 }),
      async (parts) => {
        const raw = parts.map(([text, times]) => text.repeat(times)).join('');
        const quick = await readableText(raw, SIZE);
        expect(await whileBusy(3, () => readableText(raw, SIZE))).toBe(quick);
      },
    ),
    { numRuns: 25 },
  );
});

const FLOOD = '\x1b[400S'.repeat(2000);

test('output that is more work than allowed gets a line that says so, and its rest is text (Q1)', async () => {
  const raw = `one\r\n${FLOOD}two\r\n\x1b[31mthree\x1b[0m\r\n10%\r99%\r\nfour`;
  const text = await readableText(raw, SIZE);
  expect(text.replace(/^\n+/, '')).toBe(
    'two\n[… more scrolling and erasing than is drawn: from here on the text alone …]\nthree\n99%\nfour',
  );
  expect(await whileBusy(5, () => readableText(raw, SIZE))).toBe(text);
});

test('links cost no more than their text (Q1)', async () => {
  const line = '\x1b]8;;https://x.y/\x07a\x1b]8;;\x07'.repeat(8);
  const text = await readableText(`${line}\r\n`.repeat(500), SIZE);
  expect(text).toBe('aaaaaaaa\n'.repeat(500));
});
