import { afterEach, expect, test } from 'vitest';
import { Emulator } from '../../src/terminal/emulator.js';
import { fc } from '../support/properties.js';

const SIZE = { columns: 20, rows: 6 };
const made: Emulator[] = [];

afterEach(() => {
  for (const emulator of made.splice(0)) emulator.dispose();
});

async function terminal(scrollback = 20) {
  const emulator = await Emulator.create(SIZE, scrollback);
  made.push(emulator);
  return {
    emulator,
    /** Writes, and returns what is new. */
    async after(data: string | Uint8Array) {
      await emulator.write(data);
      return emulator.look('new');
    },
  };
}

test('what was told is told once: lines are new, or have changed', async () => {
  const { after } = await terminal();
  expect((await after('one\r\ntwo\r\n$ ')).rows).toEqual(['one', 'two', '$']);
  expect(await after('')).toMatchObject({ kind: 'same', rows: [] });
  expect((await after('ls\r\na b\r\n$ ')).rows).toEqual(['$ ls', 'a b', '$']);
  expect((await after('\r\n')).kind).toBe('same');
  expect((await after('done\r\n')).rows).toEqual(['done']);
});

test('lines that scroll away between two looks are told, and those that no longer are there are a gap', async () => {
  const { after } = await terminal(20);
  await after('begin\r\n');
  const lines = Array.from({ length: 15 }, (_, index) => `line ${index}`);
  expect(await after(`${lines.join('\r\n')}\r\n`)).toMatchObject({ rows: lines, hasGap: false });
  const many = Array.from({ length: 100 }, (_, index) => `more ${index}`);
  const { rows, hasGap } = await after(`${many.join('\r\n')}\r\n`);
  expect(hasGap).toBe(true);
  expect(rows.at(-1)).toBe('more 99');
});

test('a screen that was cleared is told as it is, and that is no gap', async () => {
  const { after } = await terminal();
  await after('one\r\ntwo\r\n');
  expect(await after('\x1b[H\x1b[2J\x1b[3Jnew')).toMatchObject({ rows: ['new'], hasGap: false });
});

test('a row above that was drawn anew is told, with what is below', async () => {
  const { after } = await terminal();
  await after('title\r\n> a\r\n  b\r\n');
  expect((await after('\x1b[2A\r  \x1b[B\r> \x1b[B\r')).rows).toEqual(['  a', '> b']);
});

test('a full-screen program is told with its whole screen, and the cursor', async () => {
  const { after } = await terminal();
  await after('before\r\n');
  expect(await after('\x1b[?1049h\x1b[Htop\x1b[3;4Hmid')).toEqual({
    kind: 'screen',
    rows: ['top', '', '   mid'],
    cursor: { row: 3, column: 7 },
    highlights: [],
    hasGap: false,
  });
  expect(await after('')).toMatchObject({ kind: 'same' });
  expect(await after('\x1b[?25l')).toMatchObject({ kind: 'screen', cursor: undefined });
  expect(await after('\x1b[?1049lafter\r\n')).toMatchObject({ kind: 'lines', rows: ['after'] });
});

test('the cursor is told where a person would have to look for it', async () => {
  const { after } = await terminal();
  expect((await after('> abc')).cursor).toBeUndefined();
  expect(await after('\x1b[2D')).toMatchObject({ rows: ['> abc'], cursor: { row: 1, column: 4 } });
});

test('wrapped rows are one line, and wide characters stay whole', async () => {
  const { after } = await terminal();
  const long = 'x'.repeat(19);
  expect((await after(`${long}字字ab\r\n`)).rows).toEqual([`${long}字字ab`]);
});

test('a character that comes in pieces is drawn whole', async () => {
  const { emulator, after } = await terminal();
  const bytes = Buffer.from('é字🙂', 'utf8');
  for (const byte of bytes.subarray(0, -1)) await emulator.write(Uint8Array.of(byte));
  expect((await after(bytes.subarray(-1))).rows).toEqual(['é字🙂']);
});

test('the chosen item of a menu is told', async () => {
  const { after } = await terminal();
  const menu = '\x1b[?1049h\x1b[H  one\r\n\x1b[7m> two\x1b[0m\r\n  three';
  expect((await after(menu)).highlights).toEqual(['> two']);
});

test('what was told stays told when the terminal is resized', async () => {
  const { emulator, after } = await terminal();
  await after('one two three four\r\n$ ');
  emulator.resize({ columns: 40, rows: 10 });
  expect(await after('')).toMatchObject({ kind: 'same' });
  expect((await after('x')).rows).toEqual(['$ x']);
  await emulator.write('\r\nnew\r\n');
  emulator.resize({ columns: 30, rows: 8 });
  expect((await after('')).rows).toContain('new');
});

test('all of it is told again when that is asked for', async () => {
  const { emulator, after } = await terminal();
  await after('one\r\ntwo\r\n');
  expect(emulator.look('all').rows).toEqual(['one', 'two']);
  expect((await after('three\r\n')).rows).toEqual(['three']);
});

test('however lines come in pieces and looks, each is told once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat({ max: 40 }), { maxLength: 6 }),
      async (words, cuts) => {
        const { after } = await terminal(60);
        const lines = words.map((word, index) => `${index}${word}`);
        const text = `${lines.join('\r\n')}\r\n`;
        const ends = [...new Set([...cuts.filter((cut) => cut < text.length), text.length])];
        const told: string[] = [];
        let at = 0;
        for (const end of ends.sort((a, b) => a - b)) {
          const { rows } = await after(text.slice(at, end));
          // A line that was told while it was being written is told again, as a whole.
          for (const row of rows) {
            if (told.length > 0 && row.startsWith(told.at(-1) ?? '')) told.pop();
            told.push(row);
          }
          at = end;
        }
        expect(told).toEqual(lines);
      },
    ),
    { numRuns: 60 },
  );
});
