import { describe, expect, test } from 'vitest';
import { limitsToShow, showCapture } from '../../../../src/contracts/workspace/output/show.js';
import type { OutputLimits } from '../../../../src/options/command-options.js';
import { captureOf, countsOf, linesOf } from '../../../support/captures.js';
import { fc } from '../../../support/properties.js';

const show = (text: string, limits: OutputLimits) =>
  showCapture(captureOf(text, limitsToShow(limits)), limits);

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

describe('the tail', () => {
  const tail = (tailBytes: number): OutputLimits => ({ headBytes: 0, tailBytes });

  test('output that fits is shown as it is', () => {
    expect(show('a\nb', tail(3))).toEqual({ text: 'a\nb' });
    expect(show('', tail(3))).toEqual({ text: '' });
  });

  test('a cut shows whole lines with their real numbers', () => {
    const shown = show(numbered(1000), tail(30));
    expect(shown.text).toBe('line 998\nline 999\nline 1000\n');
    expect(shown.cut?.notice).toBe('[Showing lines 998-1000 of 1000 (30B limit)]');
    expect(shown.cut?.truncation).toEqual({
      direction: 'tail',
      truncatedBy: 'bytes',
      totalLines: 1000,
      totalBytes: 8893,
      outputLines: 3,
      outputBytes: 28,
      shownRange: { start: 998, end: 1000 },
    });
  });

  test('a tail that begins just at a line keeps that line', () => {
    expect(show('aaaa\nbbbb\ncccc\n', tail(10)).text).toBe('bbbb\ncccc\n');
    expect(show('aaaa\nbbbb\ncccc\n', tail(8)).text).toBe('cccc\n');
  });

  test('a last line without a newline counts', () => {
    const shown = show('aaaa\nbbbb\ncccc', tail(9));
    expect(shown.text).toBe('bbbb\ncccc');
    expect(shown.cut?.notice).toBe('[Showing lines 2-3 of 3 (9B limit)]');
  });

  test('one long line is shown by its end, with its length', () => {
    const shown = show('x'.repeat(120_000), tail(50 * 1024));
    expect(shown.text).toBe('x'.repeat(50 * 1024));
    expect(shown.cut?.notice).toBe('[Showing last 50.0KB of line 1 (line is 117.2KB)]');
  });

  test('of a long last line too', () => {
    const shown = show(`short\n${'x'.repeat(120_000)}\n`, tail(50 * 1024));
    expect(shown.cut?.notice).toBe('[Showing last 50.0KB of line 2 (line is 117.2KB)]');
    expect(shown.cut?.truncation.shownRange).toEqual({ start: 2, end: 2, partial: true });
  });

  test('one byte too many is a cut too', () => {
    expect(show('aa\nbb', tail(4)).text).toBe('bb');
    expect(show('中中', tail(5)).text).toBe('中');
  });

  test('for any output, the shown lines are the lines named, and they fit', () => {
    fc.assert(
      fc.property(outputs, fc.integer({ min: 4, max: 40 }), (text, tailBytes) => {
        const { text: shown, cut } = show(text, tail(tailBytes));
        if (cut === undefined) return shown === text;
        const { shownRange, totalLines, outputBytes } = cut.truncation;
        const lines = linesOf(text);
        const named = lines.slice(shownRange.start - 1, shownRange.end).join('');
        expect(totalLines).toBe(lines.length);
        expect(outputBytes).toBe(Buffer.byteLength(shown));
        // The final newline is not shown, and takes no room.
        const room = tailBytes + (text.endsWith('\n') ? 1 : 0);
        expect(outputBytes).toBeLessThanOrEqual(room);
        if (!shownRange.partial) {
          expect(shown).toBe(named);
          // Nothing that would have fitted is left out.
          const before = lines[shownRange.start - 2] ?? '';
          expect(outputBytes + Buffer.byteLength(before)).toBeGreaterThan(room);
        } else {
          expect(named.endsWith(shown)).toBe(true);
          expect(Buffer.byteLength(named)).toBeGreaterThan(room);
          // The room is used, but for the rest of a character.
          expect(outputBytes).toBeGreaterThan(room - 4);
        }
      }),
    );
  });
});

describe('pieces of long lines', () => {
  const KB = 1024;
  const tail: OutputLimits = { headBytes: 0, tailBytes: 50 * KB };

  test('B1: the end of a long line is shown when only an empty line comes after it', () => {
    const shown = show(`{${'0'.repeat(59_999)}1}\n\n`, tail);
    expect(shown.text).toBe(`${'0'.repeat(51_197)}1}\n\n`);
    expect(shown.cut?.notice).toBe(
      '[Showing lines 1-2 of 2 (50.0KB limit); of line 1 (58.6KB) the last 50.0KB]',
    );
    expect(shown.cut?.truncation.shownRange).toEqual({ start: 1, end: 2, partial: true });
  });

  test('B2: the room that a short last line leaves is filled with the end of the one before', () => {
    const shown = show(`${'x'.repeat(60_000)}\nlast`, tail);
    expect(shown.text).toBe(`${'x'.repeat(51_195)}\nlast`);
    expect(shown.cut?.notice).toContain('of line 1 (58.6KB) the last 50.0KB');
  });

  test('B2: the size of a line whose beginning was not kept is not guessed', () => {
    const shown = show(`first\n${'x'.repeat(60_000)}\nlast\n`, tail);
    expect(shown.cut?.notice).toBe(
      '[Showing lines 2-3 of 3 (50.0KB limit); of line 2 the last 50.0KB]',
    );
  });

  test('B3: both ends of one long line are told as pieces of it', () => {
    const shown = show('x'.repeat(200 * KB), { headBytes: 20 * KB, tailBytes: 50 * KB });
    expect(shown.cut?.notice).toBe(
      '[Showing the first 20.0KB of line 1 and the last 50.0KB of line 1 (200.0KB) of 1 (20.0KB + 50.0KB limit)]',
    );
    expect(shown.cut?.truncation).toMatchObject({
      headRange: { start: 1, end: 1, partial: true },
      shownRange: { start: 1, end: 1, partial: true },
    });
    expect(shown.text).toContain('\n[… 130.0KB elided …]\n');
  });

  test('B3: a long line after short ones is shown by its beginning too', () => {
    const shown = show(`a\nb\n${'x'.repeat(200 * KB)}\nlast\n`, {
      headBytes: 20 * KB,
      tailBytes: 50 * KB,
    });
    expect(shown.cut?.notice).toBe(
      '[Showing lines 1-3 (of line 3 the first 20.0KB) and lines 3-4 (of line 3 the last 50.0KB) of 4 (20.0KB + 50.0KB limit)]',
    );
  });

  test('B4: the limit is on what is shown, and the sizes are of what was printed', () => {
    const text = '␀'.repeat(51_200);
    const total = { bytes: 51_200, characters: 51_200, lines: 1 };
    const shown = showCapture({ kind: 'complete', text, total, lossy: true }, tail);
    expect(Buffer.byteLength(shown.text)).toBeLessThanOrEqual(51_200);
    expect(shown.cut?.notice).toBe('[Showing last 16.7KB of line 1 (line is 50.0KB)]');
  });

  test('B5: sizes that differ look different', () => {
    const shown = show('x'.repeat(51_201), tail);
    expect(shown.cut?.notice).toBe('[Showing last 50.0KB of line 1 (line is 51201B)]');
  });

  test('B5: a final newline, which is not shown, takes no room', () => {
    const text = `${'x'.repeat(51_200)}\n`;
    expect(show(text, tail)).toEqual({ text });
    const second = show(`a\n${text}`, tail);
    expect(second.text).toBe(text);
    expect(second.cut?.notice).toBe('[Showing lines 2-2 of 2 (50.0KB limit)]');
  });
});

describe('head and tail', () => {
  test('a marker stands in the place of what is missing', () => {
    const shown = show(numbered(2000), { headBytes: 20, tailBytes: 20 });
    expect(shown.text).toBe(
      'line 1\nline 2\n[… 1,996 lines elided (18.4KB) …]\nline 1999\nline 2000\n',
    );
    expect(shown.cut?.notice).toBe('[Showing lines 1-2 and 1999-2000 of 2000 (20B + 20B limit)]');
    expect(shown.cut?.truncation).toMatchObject({
      direction: 'middle',
      outputLines: 4,
      headRange: { start: 1, end: 2 },
      shownRange: { start: 1999, end: 2000 },
    });
  });

  test('a hole in one line has no count of lines', () => {
    const shown = show('x'.repeat(5000), { headBytes: 10, tailBytes: 10 });
    expect(shown.text).toBe(`${'x'.repeat(10)}\n[… 4.9KB elided …]\n${'x'.repeat(10)}`);
    expect(shown.cut?.truncation.outputLines).toBe(1);
  });

  test('for any output, its ends are shown and the rest is accounted for', () => {
    const sizes = fc.integer({ min: 4, max: 40 });
    fc.assert(
      fc.property(outputs, sizes, sizes, (text, headBytes, tailBytes) => {
        const shown = show(text, { headBytes, tailBytes });
        if (shown.cut === undefined) return shown.text === text;
        const [before = '', tail = ''] = shown.text.split(/\[… .* …\]\n/);
        // The marker stands on a line of its own, even where the head ends within a line.
        const whole = text.startsWith(before) && Buffer.byteLength(before) <= headBytes;
        const head = whole ? before : before.slice(0, -1);
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(headBytes);
        expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(tailBytes + 1);
        const { headRange, shownRange, outputLines, totalLines } = shown.cut.truncation;
        expect(headRange?.end).toBe(linesOf(head).length);
        expect(shownRange.end).toBe(totalLines);
        expect(outputLines).toBeLessThanOrEqual(totalLines);
        expect(totalLines).toBe(countsOf(text).lines);
      }),
    );
  });
});

const outputs = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('\n') },
      { weight: 5, arbitrary: fc.constantFrom('a', 'bc', 'é', '中文', '😀') },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
    ),
    { maxLength: 80 },
  )
  .map((pieces) => pieces.join(''));

test('a capture of more than is shown is shown as one of just as much', () => {
  const lines = fc.array(fc.constantFrom('a', '中中', 'long line', ''), { maxLength: 40 });
  const sizes = fc.integer({ min: 4, max: 40 });
  fc.assert(
    fc.property(
      lines,
      fc.constantFrom(0, 10),
      sizes,
      sizes,
      (texts, headBytes, tailBytes, more) => {
        const text = texts.join('\n');
        const limits = { headBytes, tailBytes };
        const larger = {
          headBytes: headBytes && headBytes + more,
          tailBytes: tailBytes + 2 + more,
        };
        expect(showCapture(captureOf(text, larger), limits)).toEqual(show(text, limits));
      },
    ),
  );
});
