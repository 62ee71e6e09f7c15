import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isErrorLine } from '../../src/index.js';
import { toEnd } from '../../src/minimizer/steps.js';
import { cleanTerminalText as clean, renderTerminal } from '../../src/minimizer/terminal-text.js';
import { fc } from '../support/properties.js';

describe('escape sequences', () => {
  test.each([
    ['colours', '\x1b[31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[m', 'red x'],
    ['colours with colons', '\x1b[38:5:9mx\x1b[4:3my', 'xy'],
    ['private modes', '\x1b[?25l\x1b[?2026hx\x1b[?25h\x1b[2 q', 'x'],
    [
      'a link keeps its text',
      '\x1b]8;;https://example.com/(a)\x1b\\link\x1b]8;;\x1b\\ x',
      'link x',
    ],
    ['a link ended by BEL', '\x1b]8;id=1;https://example.com\x07link\x1b]8;;\x07', 'link'],
    ['a title', '\x1b]0;title\x07x', 'x'],
    ['DCS, SOS, PM, APC', '\x1bPq#0\x1b\\a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_Gf=1\x1b\\d', 'abcd'],
    ['8-bit controls', '\x9b31mred\x9b0m \x9d0;title\x9cx\x90q\x9cy', 'red xy'],
    ['character sets', '\x1b(Bx\x1b(0y\x1b)0z', 'xyz'],
    ['keypad, saved cursor, reset', '\x1b=\x1b>\x1b7\x1b8\x1bcX', 'X'],
    ['bells', 'a\x07b', 'ab'],
  ])('%s', (_, text, shown) => expect(clean(text)).toBe(shown));
});

describe('a broken sequence takes no text with it', () => {
  test.each([
    ['ESC at the end', 'a\x1b', 'a'],
    ['ESC before a word', 'a\x1bfter', 'after'],
    [
      'ESC before a word that begins as a sequence does',
      '\x1bcommand \x1bPassed',
      'command Passed',
    ],
    ['ESC before an error', 'x\x1bError: y', 'xError: y'],
    ['ESC before a bracket', '\x1b(error)', '(error)'],
    ['parameters at the end of a line', 'a\x1b[31\nnext', 'a\nnext'],
    ['parameters before a character that is none', 'a\x1b[31é', 'aé'],
    ['a title without an end', 'a\x1b]0;title\nnext', 'a]0;title\nnext'],
    ['a link without an end', '\x1b]8;;https://example.com\nlink', ']8;;https://example.com\nlink'],
    ['a string before a sequence', '\x1bPabc\x1b[31mred', 'Pabcred'],
  ])('%s', (_, text, shown) => expect(clean(text)).toBe(shown));

  test('unlike a removal of sequences by one expression', () => {
    expect(stripVTControlCharacters('\x1bError: y')).not.toContain('Error: y');
  });
});

describe('lines that are drawn again', () => {
  test.each([
    ['the last frame is shown', 'start\rone\rtwo\n', 'two\n'],
    ['all of it, not what it leaves of the one before', '12345\rab\n', 'ab\n'],
    ['a frame without text is none', 'one\rtwo\r\r\n', 'two\n'],
    ['without a last newline', '1%\r2%\r100%\r', '100%'],
    ['CRLF is a newline', 'a\r\nb\r\n\r\nc', 'a\nb\n\nc'],
    ['CR before CRLF', 'a\r\r\nb', 'a\nb'],
    ['erased to the end', '50%\r\x1b[Kdone\n', 'done\n'],
    ['erased as a whole', '50%\x1b[2K\rdone\n', 'done\n'],
    ['wiped by blanks', 'abc\r   \rdone\n', 'done\n'],
    ['wiped and left', 'a\nspinning\r\x1b[K\nb', 'a\nb'],
    ['backspaces write over', 'abc\b\bX\n', 'aXc\n'],
    ['a percentage by backspaces', ' 10%\b\b\b\b 20%\b\b\b\b100%\n', '100%\n'],
    ['overstrike', 'N\bNA\bA _\bx\n', 'NA x\n'],
    ['a backspace goes over a whole character', '👍\bx\n', 'x\n'],
    ['the column by its number', 'abc\x1b[2GX\n', 'aXc\n'],
    ['back to the first column', '⠙\x1b[1G\x1b[0K⠹\x1b[1G\x1b[0Kdone\n', 'done\n'],
    ['forward leaves a blank', 'a\x1b[10Cb', 'a b'],
    ['forward within the line', 'abc\r\x1b[1CX\n', 'aXc\n'],
    ['the row above', 'one\ntwo\n\x1b[1A\x1b[2K\rTWO\n', 'one\nTWO\n'],
    ['rows above, and back', 'a: 1%\nb: 1%\n\x1b[2A\ra: 9%\x1b[2B\rend\n', 'a: 9%\nb: 1%\nend\n'],
    ['rows from the first on', 'a1\nb1\n\x1b[2Fa2\nb2\n', 'a2\nb2\n'],
    ['all below erased', 'a\nb\nc\n\x1b[2A\x1b[Jd\n', 'a\nd\n'],
    ['a cleared screen takes nothing away', 'a\n\x1b[2J\x1b[Hb\n', 'a\nb\n'],
    ['no higher than the first row', 'a\n\x1b[9999Ab\n', 'b\n'],
    ['form feeds and vertical tabs do not glue', 'a\fb\vc\x85d', 'a\nb\nc\nd'],
    ['tabs stay', 'a\tb', 'a\tb'],
  ])('%s', (_, text, shown) => expect(clean(text)).toBe(shown));
});

describe('an error that is overwritten', () => {
  test.each([
    ['by CR', 'error: disk full\rnext\n', 'error: disk full\nnext\n'],
    ['by an erased line', 'x\nerror: disk full\n\x1b[1A\x1b[2Kok\n', 'x\nerror: disk full\nok\n'],
    ['by erasing all below', 'a\nerror: b\nc\n\x1b[3A\x1b[Jd\n', 'error: b\nd\n'],
    ['by backspaces', 'error: x\b\b\b\b\b\b\b\bfine    \n', 'error: x\nfine    \n'],
    ['by a second one', 'error: a\rerror: b\n', 'error: a\nerror: b\n'],
  ])('is a line of its own: %s', (_, text, shown) => expect(clean(text)).toBe(shown));

  test('a counter of failures is kept by its first and last frame', () => {
    const frames = Array.from({ length: 500 }, (_, index) => `2 failed, ${index} passed\r`).join(
      '',
    );
    expect(clean(`${frames}\n`)).toBe(
      '2 failed, 0 passed\n[… 498 redraws like the line above …]\n2 failed, 499 passed\n',
    );
  });
});

describe('B25: an error of which a part is overwritten does not make the text longer', () => {
  test.each([
    [
      'with its row where there is room',
      'a.c: \x1b[31merror: x\x1b[m\x1b[6Gno error',
      'a.c: error: x\na.c: no error',
    ],
    ['two errors', 'error: x error: x\x1b[5Gerror: x', 'r: x err\nerroerror: xor: x'],
    ['after blanks', '     error: x\x1b[5Gerror: x', ' error: \n    error: xx'],
    ['erased to the end', 'one two error: x\x1b[9G\x1b[Kok', 'error: x\none two ok'],
    [
      'between halves of characters',
      'aaa👍 error: x👍\x1b[5Grerror: yyy',
      ' error: x\naaa rerror: yyy',
    ],
  ])('%s', (_, text, shown) => {
    expect(clean(text)).toBe(shown);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(Buffer.byteLength(text));
  });
});

test("each line has the number of the output's line on which it began", () => {
  const text = 'one\n1%\r2%\ntwo\x1b[1A\x1b[2K\r3%\n\nthree\n';
  const { lines, numbers } = toEnd(renderTerminal(text));
  expect(lines).toEqual(['one', '3%', 'two', 'three']);
  expect(numbers).toEqual([1, 2, 3, 5]);
});

const pieces = fc.oneof(
  fc.constantFrom(
    '\r',
    '\n',
    '\b',
    '\t',
    '\x1b',
    '\x1b[',
    '\x1b]',
    '\x9b',
    '\x9d',
    '\x07',
    '\x1b\\',
  ),
  fc.constantFrom(
    '\x1b[2K',
    '\x1b[K',
    '\x1b[1A',
    '\x1b[2B',
    '\x1b[5G',
    '\x1b[3D',
    '\x1b[J',
    '\x1b[31m',
  ),
  fc.constantFrom('error: x', '50%', 'a', 'word ', '中', '👍', '31m', ';', '8;;u', 'E'),
  fc.string({ maxLength: 6 }),
);
const outputs = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(''));

describe('for any output', () => {
  test('clean text stays unchanged', () => {
    fc.assert(fc.property(outputs, (text) => clean(clean(text)) === clean(text)));
  });

  test('no control but newline and tab is left, no half a character, and it gets no longer', () => {
    fc.assert(
      fc.property(outputs, (text) => {
        const shown = clean(text);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
        expect(shown).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(Buffer.from(shown).toString()).toBe(shown);
        expect(shown.length).toBeLessThanOrEqual(text.length);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(Buffer.byteLength(text));
      }),
      // It took thousands of outputs to find one that got longer.
      { numRuns: 2000 },
    );
  });

  test('text without controls stays unchanged', () => {
    const plain = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', '\t', '中', '👍', '[', '3', 'm'),
    });
    fc.assert(fc.property(plain, (text) => clean(text) === text));
  });

  test('text after an unterminated sequence at the end of a line is all there', () => {
    const broken = fc.constantFrom(
      '\x1b',
      '\x1b[',
      '\x1b[31',
      '\x1b[1;',
      '\x1b]',
      '\x1b]0;t',
      '\x1bP',
      '\x9d',
    );
    const word = fc.stringMatching(/^[a-z ]{1,20}$/);
    fc.assert(
      fc.property(word, broken, word, (before, sequence, after) => {
        const [first, ...rest] = clean(`${before}${sequence}\n${after}`).split('\n');
        expect(first?.startsWith(before)).toBe(true);
        expect(rest).toEqual([after]);
      }),
    );
  });

  test('a frame about an error is never lost', () => {
    const frames = fc.array(fc.constantFrom('error: a', 'fatal b', '10%', 'ok', '   '), {
      minLength: 1,
    });
    const redraw = fc.constantFrom('\r', '\r\x1b[K', '\x1b[2K\r', '\x1b[1G', '\n\x1b[1A\x1b[2K');
    fc.assert(
      fc.property(frames, redraw, (texts, again) => {
        const lines = clean(`${texts.join(again)}\n`).split('\n');
        for (const text of texts.filter(isErrorLine)) expect(lines).toContain(text);
      }),
    );
  });
});

test.each([
  ['backspaces', 'x\b'.repeat(500_000)],
  ['backspaces in a long line', 'a'.repeat(500_000) + '\bX'.repeat(250_000)],
  ['titles that never end', '\x1b]'.repeat(500_000)],
  ['8-bit titles that never end', '\x9dx'.repeat(500_000)],
  ['errors drawn over', 'error \r'.repeat(150_000)],
  [
    'errors drawn over in part',
    `${'b'.repeat(4000)}${'error\b\b\b\b\berrox\b\b\b\b\b'.repeat(50_000)}`,
  ],
  ['the end erased again and again', 'error: e'.repeat(60_000) + '\x1b[K\b\x1b[K'.repeat(60_000)],
  ['up and erase', 'x\n'.repeat(100_000) + '\x1b[200A\x1b[J\n'.repeat(90_000)],
  ['newlines and one control', `${'\n'.repeat(1_000_000)}\r`],
])('a megabyte of it takes no more than a few seconds: %s', (_, text) => {
  const start = performance.now();
  clean(text);
  expect(performance.now() - start).toBeLessThan(8000);
});
