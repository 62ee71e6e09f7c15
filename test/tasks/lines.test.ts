import { expect, test } from 'vitest';
import { LineSearch } from '../../src/tasks/lookout/lines.js';
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
  search.gap();
  expect(found(search, 'dy\nready\r\n')).toEqual(['ready']);
});

test('a line without end costs no more than its beginning', () => {
  const search = new LineSearch(['end']);
  for (let count = 0; count < 200; count += 1)
    expect(found(search, 'x'.repeat(10_000))).toEqual([]);
  expect(found(search, 'end\nend')).toEqual(['end']);
});

test('the same lines are found, however output is divided', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\n', '€'), maxLength: 80 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 8 }), (all, cuts) => {
      const bytes = Buffer.from(all);
      const lines = all.split('\n').filter((line) => line.includes('ab'));
      const search = new LineSearch(['ab']);
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort(
        (one, other) => one - other,
      );
      const count = places
        .slice(1)
        .flatMap((end, index) => search.push(bytes.subarray(places[index], end))).length;
      expect(count).toBe(lines.length);
    }),
  );
});
