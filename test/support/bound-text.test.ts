import { expect, test } from 'vitest';
import { boundText, type TextLimits } from '../../src/support/texts/bound-text.js';
import { fc } from './properties.js';

const pieces = fc.oneof(
  fc.constant('\n'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.constantFrom('é', '漢', '😀', '\u{10ffff}', 'a line of text\n'),
);
const texts = fc.array(pieces, { maxLength: 300 }).map((all) => all.join(''));
const limit = (max: number) => fc.option(fc.nat({ max }), { nil: undefined });
const limitsOf = fc
  .record({ characters: limit(2000), bytes: limit(4000), lines: limit(100) })
  .map((given) =>
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  );

const isWithin = (text: string, { characters, bytes, lines }: TextLimits): boolean =>
  text.length <= (characters ?? Infinity) &&
  Buffer.byteLength(text) <= (bytes ?? Infinity) &&
  // Even an empty text has one line.
  (text === '' || text.split('\n').length <= (lines ?? Infinity));
const codePoints = (text: string): number => [...text].length;

test('I6: a bound text is never above a limit, and whole where it fits', () => {
  fc.assert(
    fc.property(texts, limitsOf, (text, limits) => {
      const bound = boundText(text, limits, (omitted) => `: ${omitted} in all`);
      expect(isWithin(bound.text, limits)).toBe(true);
      if (isWithin(text, limits)) expect(bound).toEqual({ text, omitted: 0 });
    }),
    { numRuns: 2000 },
  );
});

test('I6: the count is exact: beginning, what is left out and end are the text', () => {
  fc.assert(
    fc.property(texts, limitsOf, (text, limits) => {
      const { text: shown, omitted } = boundText(text, limits);
      if (omitted === 0) {
        expect(shown).toBe(text);
        return;
      }
      const note = `[${omitted.toLocaleString('en')} characters left out here]\n`;
      const at = shown.indexOf(note);
      // Not even the line fits.
      fc.pre(at !== -1);
      const tail = shown.slice(at + note.length);
      const before = shown.slice(0, at);
      const head = text.startsWith(before) ? before : before.slice(0, -1);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      const middle = text.slice(head.length, text.length - tail.length);
      expect([omitted, omitted + codePoints(head) + codePoints(tail)]).toEqual([
        codePoints(middle),
        codePoints(text),
      ]);
    }),
    { numRuns: 2000 },
  );
});

test('I6: a cut splits no surrogate pair', () => {
  fc.assert(
    fc.property(fc.integer({ min: 50, max: 400 }), fc.nat({ max: 3 }), (characters, shift) => {
      const { text } = boundText(`${'x'.repeat(shift)}${'😀'.repeat(500)}`, { characters });
      expect(text.isWellFormed()).toBe(true);
      expect(text).toContain('left out here');
    }),
  );
});

test('I6: the end gets three quarters of the room, and lines stay whole', () => {
  const text = Array.from({ length: 1000 }, (_, line) => `line ${line}\n`).join('');
  const { text: shown, omitted } = boundText(text, { characters: 1000 }, () => '; ask again');
  expect(shown).toMatch(/^line 0\nline 1\n/);
  expect(shown).toMatch(/line 999\n$/);
  expect(shown).toContain(
    `\n[${omitted.toLocaleString('en')} characters left out here; ask again]\nline `,
  );
  expect(shown.length).toBeGreaterThan(950);
  const [head = '', tail = ''] = shown.split(/\[.*\]\n/);
  expect(tail.length / head.length).toBeGreaterThan(2.5);
});

test('I6: a limit of lines keeps both ends', () => {
  const text = Array.from({ length: 5000 }, (_, line) => `${line}\n`).join('');
  const { text: shown } = boundText(text, { lines: 2000 });
  const lines = shown.split('\n').length;
  expect(lines).toBeLessThanOrEqual(2000);
  expect(lines).toBeGreaterThan(1990);
  expect(shown).toMatch(/^0\n1\n/);
  expect(shown).toMatch(/\n4998\n4999\n$/);
});

test('I6: where no note fits, its beginning stands', () => {
  expect(boundText('x'.repeat(100), { characters: 10 })).toEqual({
    text: '[100 chara',
    omitted: 100,
  });
  expect(boundText('xx', { characters: 0 })).toEqual({ text: '', omitted: 2 });
});
