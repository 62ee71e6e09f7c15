import { expect, test } from 'vitest';
import { createTerminal, screenText } from '../../src/terminal/emulator.js';
import { PacedWriter } from '../../src/terminal/paced-write.js';
import { readableText } from '../../src/terminal/readable.js';
import { fc } from '../support/properties.js';

const SIZE = { columns: 80, rows: 24 };

/** Processor time that this process has taken, in milliseconds: what others take meanwhile is none of it. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The longest processor time for which nothing else had a turn, in milliseconds. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = processorTime();
  const note = () => {
    const now = processorTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(note, 1);
  await work;
  note();
  clearInterval(timer);
  return longest;
}

test.each(['b', 'S', 'T', 'L', 'M', 'I', 'Z'])(
  'a sequence that repeats %s two thousand million times is left out, and a fitting one is not',
  async (final) => {
    const took = await longestTurn(readableText(`x\x1b[2147483647${final}y\n`, SIZE));
    expect(took).toBeLessThan(2000);
    expect(await readableText(`x\x1b[2147483647${final}y\n`, SIZE)).toBe('xy\n');
    expect(await readableText(`x\x1b[3${final}y\n`, SIZE)).not.toBe('xy\n');
  },
);

test.each([
  ['scrolls', '\x1b[400S'],
  ['resets', '\x1bc'],
  ['changes of the screen', '\x1b[?1049h\x1b[?1049l'],
])('a flood of %s does not block the event loop', async (_, sequence) => {
  const terminal = await createTerminal(SIZE, 0);
  const flood = sequence.repeat(65_536 / sequence.length);
  const writer = new PacedWriter(terminal);
  expect(await longestTurn(writer.write(flood, 1_000_000))).toBeLessThan(1000);
  terminal.dispose();
});

test('output that is too much work for a terminal is still read to its end', async () => {
  const flood = `\x1b[400S\x1b]0;t\x07`.repeat(20_000);
  const begun = performance.now();
  expect(await readableText(`${flood}the end\r\n`, SIZE)).toMatch(
    /(^|\n)the end\n\[… more scrolling and erasing than is drawn: some of it was left out …\]\n$/,
  );
  expect(performance.now() - begun).toBeLessThan(20_000);
});

test('text that is more work than allowed is not written, and the result says how much was', async () => {
  const terminal = await createTerminal(SIZE, 0);
  const writer = new PacedWriter(terminal);
  const plain = 'x\r\n'.repeat(30_000);
  expect(await writer.write(plain, 1)).toEqual({ length: plain.length, ranOut: false });
  const scrolls = `${'\x1b[400S'.repeat(100)}\n`;
  const first = await writer.write(scrolls.repeat(1000), 100_000);
  expect(first).toEqual({ length: expect.any(Number), ranOut: true });
  // At the end of a line, a block after the work ran out at most.
  expect(first.length % scrolls.length).toBe(0);
  expect(first.length).toBeLessThan(20_000);
  expect(await writer.write(scrolls.repeat(1000), 100_000)).toEqual(first);
  terminal.dispose();
});

test('sequences after the work is used up are not carried out', async () => {
  const terminal = await createTerminal(SIZE, 0);
  const text = `${'\r\n'.repeat(10)}x${'\x1b[S'.repeat(5)}y\r\n`;
  expect(await new PacedWriter(terminal).write(text, 1)).toMatchObject({ ranOut: true });
  // The first of five scrolls is allowed.
  expect(screenText(terminal.buffer.active, 9, 11)).toBe('x\n y\n');
  terminal.dispose();
});

test('text in pieces gives the same screen as at once, wherever it is divided', async () => {
  const text = fc.array(
    fc.constantFrom('é', '😀', '界', 'a', '\r\n', '\x1b[31m', '\x1b[2;3H', '\x1b]0;t\x07'),
    { minLength: 300, maxLength: 1500 },
  );
  await fc.assert(
    fc.asyncProperty(text, async (parts) => {
      const bytes = Buffer.from(parts.join(''));
      const screens = [];
      for (const largest of [64, 1_000_000]) {
        const terminal = await createTerminal(SIZE, 0);
        const { length } = await new PacedWriter(terminal, largest).write(bytes);
        expect(length).toBe(bytes.length);
        screens.push(screenText(terminal.buffer.active, 0, SIZE.rows));
        terminal.dispose();
      }
      expect(screens[0]).toBe(screens[1]);
    }),
    { numRuns: 20 },
  );
});
