import { expect, test } from 'vitest';
import { readSequence } from '../../src/minimizer/escape-sequence.js';
import { type FoundLine, LineSearch } from '../../src/tasks/lookout/lines.js';
import { fc } from '../support/properties.js';

const found = (search: LineSearch, text: string): string[] =>
  search.push(Buffer.from(text)).map(({ line }) => line);

test('a line is found once, as soon as it matches, complete or not', () => {
  const search = new LineSearch(['>>> ']);
  expect(found(search, '>>')).toEqual([]);
  expect(found(search, '> ')).toEqual(['>>> ']);
  expect(found(search, '1+1\n2\n>>> ')).toEqual(['>>> ']);
});

test('a sticky or global expression finds each line', () => {
  const search = new LineSearch([/ready/gy]);
  expect(found(search, 'ready\nready\nnot ready\n')).toEqual(['ready', 'ready']);
});

test('output after a gap does not complete the line before it', () => {
  const search = new LineSearch(['ready']);
  expect(found(search, 'rea')).toEqual([]);
  search.gap(10);
  expect(search.push(Buffer.from('dy\nready\r\n'))).toEqual([
    { pattern: 'ready', line: 'ready', from: 13, cursor: 20 },
  ]);
});

test('T5: the end of an endless line is found, in bounded memory and time', () => {
  const search = new LineSearch(['end', /never/]);
  for (let count = 0; count < 2000; count += 1)
    expect(found(search, 'x'.repeat(10_000))).toEqual([]);
  const [line = '', ...others] = found(search, 'the end\nend');
  expect(line).toMatch(/^…x+the end$/);
  expect(line.length).toBeLessThan(40_000);
  expect(others).toEqual(['end']);
});

test('T5: each drawing of a progress bar is a line, and a newline after \\r is one with it', () => {
  const search = new LineSearch(['%', /^done$/]);
  const bar = search.push(Buffer.from(' 10%\r 55%\r100%\r\ndone\r\n'));
  expect(bar.map(({ line }) => line)).toEqual([' 10%', ' 55%', '100%', 'done']);
  expect(bar.map(({ from, cursor }) => [from, cursor])).toEqual([
    [0, 5],
    [5, 10],
    [10, 16],
    [16, 22],
  ]);
});

test.each([
  ['colours', '\x1b[32mcompiled \x1b[1msuccess\x1b[0mfully\x1b[K', 'compiled successfully'],
  [
    'titles and links',
    '\x1b]0;npm run\x07\x1b]8;;http://x\x1b\\ready\x1b]8;;\x1b\\ now',
    'ready now',
  ],
  ['blanks that are moves', 'listening\x1b[1Con\x1b[2C3000', 'listening on  3000'],
  ['erased characters', 'helk\b \blo', 'hello'],
  ['other controls', 'a\x00b\x07c\x0e', 'abc'],
  ['a broken sequence', '\x1b[31 ü and \x1b text', ' ü and  text'],
])('T4: %s do not hide what a person reads', (_, printed, line) => {
  expect(found(new LineSearch([/./]), `${printed}\n`)).toEqual([line]);
});

test('T4: what is drawn at the beginning of a row again is a line of its own', () => {
  const search = new LineSearch(['step']);
  expect(found(search, 'step 1\x1b[2K\x1b[1Gstep 2\x1b[1A\x1b[Gstep 3\x1bM')).toEqual([
    'step 1',
    'step 2',
    'step 3',
  ]);
});

/** What a text that is known whole has for lines, by a way of its own. */
function framesOf(all: string): string[] {
  let clean = '';
  for (let at = 0; at < all.length; ) {
    const code = all.charCodeAt(at);
    const isSequence = code === 0x1b || (code >= 0x80 && code < 0xa0);
    if (!isSequence) {
      if (code !== 0x07) clean += all.charAt(at);
      at += 1;
      continue;
    }
    const sequence = readSequence(all, at);
    const erases = sequence.kind === 'csi' && 'GK'.includes(sequence.final) && !sequence.isPrivate;
    clean += erases || ['up', 'newline', 'reset'].includes(sequence.kind) ? '\r' : '';
    at = sequence.end;
  }
  return clean.split(/\r?\n|\r/);
}

const pieces = [
  ...[
    'a',
    'b',
    'ab',
    'é',
    '€',
    '😀',
    '\n',
    '\r',
    '\r\n',
    '\x1b',
    '[',
    '(',
    'M',
    'c',
    ']0;',
    '\x07',
  ],
  ...['\x1b[1;31m', '\x1b[0m', '\x1b[2K', '\x1b[G', '\x1b]8;;x\x1b\\', '\x1b(B', '\u009b1m', '\\'],
];

test('the same lines are found, however output is divided', () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(120), { maxLength: 30 }), (parts, cuts) => {
      // The newline shows that a sequence does not go on.
      const all = `${parts.join('')}\n`;
      const bytes = Buffer.from(all);
      const divided = findAll(bytes, cuts);
      expect(divided.map(({ from }) => from)).toEqual(findAll(bytes, []).map(({ from }) => from));
      expect(divided).toHaveLength(framesOf(all).filter((line) => line.includes('ab')).length);
      // What comes after a line that was told does not begin within it.
      for (const [index, { cursor }] of divided.slice(0, -1).entries()) {
        expect(divided[index + 1]?.from).toBeGreaterThanOrEqual(cursor);
      }
    }),
    { numRuns: 2000 },
  );
});

test('in long lines too', () => {
  const run = fc.tuple(fc.nat(60_000), fc.constantFrom('ab', 'a\x1b[1mb', '\nab', '\rab'));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 5 }), fc.array(fc.nat(200_000)), (runs, cuts) => {
      const bytes = Buffer.from(runs.map(([count, end]) => 'é'.repeat(count) + end).join(''));
      const whole = findAll(bytes, []).map(({ from }) => from);
      expect(findAll(bytes, cuts).map(({ from }) => from)).toEqual(whole);
      const all = bytes.toString();
      expect(whole).toHaveLength(framesOf(all).filter((line) => line.includes('ab')).length);
    }),
    { numRuns: 50 },
  );
});

/** Finds `ab` in output that comes in pieces. */
function findAll(bytes: Buffer, cuts: readonly number[]): FoundLine[] {
  const search = new LineSearch(['ab']);
  const within = cuts.map((cut) => Math.min(cut, bytes.length));
  const places = [0, ...within.sort((one, other) => one - other), bytes.length];
  return places.slice(1).flatMap((end, index) => search.push(bytes.subarray(places[index], end)));
}

test('bytes that are no text do not move the positions of later lines', () => {
  const search = new LineSearch(['ab']);
  const bytes = Buffer.concat([Buffer.from([0xff, 0xe2, 0x28]), Buffer.from('x\nab\n')]);
  expect(search.push(bytes)).toMatchObject([{ from: 5, cursor: 8 }]);
});

test('hostile output takes linear time', () => {
  const search = new LineSearch(['never', /never$/]);
  const hostile = [
    '\x1b]',
    '\x1b[',
    '\b',
    '\x1b[1;',
    '\x1bP12',
    'x\x1b[D',
    '\u009d',
    '\r',
    '\x1b[9C',
  ];
  const begun = performance.now();
  for (const piece of hostile) {
    const bytes = Buffer.from(piece.repeat(200_000));
    for (let at = 0; at < bytes.length; at += 65_536) search.push(bytes.subarray(at, at + 65_536));
  }
  // Quadratic time would be minutes.
  expect(performance.now() - begun).toBeLessThan(30_000);
});
