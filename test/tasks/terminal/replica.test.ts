import { expect, test } from 'vitest';
import { Replica } from '../../../src/tasks/detached/terminal/replica.js';
import { fc } from '../../support/properties.js';

const SIZE = { columns: 30, rows: 8 };

/** Pieces of what programs print. */
const piece = fc.oneof(
  fc.constantFrom('text', 'é', '日本', '\r\n', '\n', '\r', '\t', '\b', 'x'.repeat(40)),
  fc.constantFrom(
    '\x1b[2J',
    '\x1b[K',
    '\x1b[H',
    '\x1b[3A',
    '\x1b[2C',
    '\x1bM',
    '\x1b[2L',
    '\x1b[1P',
  ),
  fc.constantFrom('\x1b[31m', '\x1b[1;4;48;5;20m', '\x1b[38;2;1;2;3m', '\x1b[7m', '\x1b[0m'),
  fc.constantFrom(
    '\x1b[?1049h',
    '\x1b[?1049l',
    '\x1b[?25l',
    '\x1b[?25h',
    '\x1b[?2004h',
    '\x1b[?1h',
  ),
  fc.constantFrom('\x1b[?1000h', '\x1b[?1006h', '\x1b=', '\x1b>', '\x1b[2;5r', '\x1b[r', '\x1bc'),
  fc.tuple(fc.nat(9), fc.nat(32)).map(([row, column]) => `\x1b[${row};${column}H`),
);

test('what a copy draws makes another terminal show the same, and go on alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      const [one, other] = [await Replica.create(SIZE), await Replica.create(SIZE)];
      try {
        await one.write(Buffer.from(pieces.join('')));
        // Whatever the other shows before.
        await other.write(Buffer.from('\x1b[5;5Hbefore\x1b[1;3r'));
        await other.write(Buffer.from(one.drawing(false)));
        expect(other.drawing(false)).toBe(one.drawing(false));
        expect(other.isAlternate).toBe(one.isAlternate);
        await Promise.all([one, other].map((copy) => copy.write(Buffer.from('\x1b[0m\rgo on'))));
        expect(other.drawing(false)).toBe(one.drawing(false));
      } finally {
        one.dispose();
        other.dispose();
      }
    }),
    { numRuns: 300 },
  );
});

test('on a larger terminal only the rows of the smaller one scroll', async () => {
  const [one, other] = [
    await Replica.create(SIZE),
    await Replica.create({ columns: 40, rows: 12 }),
  ];
  await one.write(Buffer.from('a\r\n'.repeat(20)));
  await other.write(Buffer.from(one.drawing(true)));
  await other.write(Buffer.from('b\r\n'.repeat(20)));
  expect(other.text()).toBe('b\n'.repeat(7));
  for (const copy of [one, other]) copy.dispose();
});
