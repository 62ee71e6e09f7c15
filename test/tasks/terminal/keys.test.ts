import { expect, test } from 'vitest';
import { DetachKeys, parseDetachKeys } from '../../../src/tasks/detached/terminal/detach-keys.js';
import { LineFeeds } from '../../../src/tasks/detached/terminal/line-feeds.js';
import { hasReplies, withoutReplies } from '../../../src/tasks/detached/terminal/replies.js';
import { ShownModes } from '../../../src/tasks/detached/terminal/shown-modes.js';
import { fc } from '../../support/properties.js';

test('keys are named as characters, and with ctrl-', () => {
  expect([...parseDetachKeys('ctrl-\\')]).toEqual([0x1c]);
  expect([...parseDetachKeys('ctrl-p,ctrl-Q')]).toEqual([0x10, 0x11]);
  expect([...parseDetachKeys('ctrl-@,ctrl-[,ctrl-],ctrl-^,ctrl-_,d')]).toEqual([
    0, 0x1b, 0x1d, 0x1e, 0x1f, 0x64,
  ]);
  for (const wrong of ['', 'ctrl-', 'ctrl-1', 'f1', 'ctrl-p,', 'é', 3, 'a,b,c,d,e,f,g,h,i']) {
    expect(() => parseDetachKeys(wrong)).toThrow(/detachKeys: expected keys/);
  }
});

test('keys that leave are found however they arrive, and all others are passed on', () => {
  const sequences = fc.constantFrom('ctrl-a,ctrl-a,d', 'ctrl-\\', 'a,b,a,c');
  const typed = fc.array(fc.constantFrom(1, 0x61, 0x62, 0x63, 0x64, 0x1c), { maxLength: 30 });
  fc.assert(
    fc.property(sequences, typed, fc.array(fc.nat(5)), (named, bytes, sizes) => {
      const sequence = parseDetachKeys(named);
      const whole = Buffer.from(bytes);
      const at = whole.indexOf(sequence);
      const keys = new DetachKeys(sequence);
      const forwarded: Buffer[] = [];
      let isLeaving = false;
      for (let from = 0, turn = 0; from < whole.length && !isLeaving; turn += 1) {
        const size = Math.max(1, sizes[turn % (sizes.length || 1)] ?? 1);
        const told = keys.push(whole.subarray(from, from + size));
        forwarded.push(told.forward);
        isLeaving = told.isLeaving;
        from += size;
      }
      expect(isLeaving).toBe(at !== -1);
      const passed = Buffer.concat(forwarded);
      if (at !== -1) expect(passed).toEqual(whole.subarray(0, at));
      else expect(whole.subarray(0, passed.length)).toEqual(passed);
      if (at === -1) expect(whole.length - passed.length).toBeLessThan(sequence.length);
    }),
  );
});

test('keys that leave are found in their long forms, which other keys keep', () => {
  for (const form of ['\x1b[92;5u', '\x1b[27;5;92~']) {
    const { forward, isLeaving } = new DetachKeys(parseDetachKeys('ctrl-\\')).push(
      Buffer.from(`a\x1b[97;5u${form}`),
    );
    expect({ text: forward.toString(), isLeaving }).toEqual({
      text: 'a\x1b[97;5u',
      isLeaving: true,
    });
  }
});

test('answers of a terminal are told from keys', () => {
  const keys = [
    'a',
    '\x1b',
    '\x1b[A',
    '\x1bOP',
    '\x1b[1;5R',
    '\x1b[15~',
    '\x1b[97;5u',
    '\x1b[I',
    '\x1b[200~x',
  ];
  const replies = [
    ...['\x1b[?62;22c', '\x1b[>0;276;0c', '\x1b[?2026;2$y', '\x1b[?1u', '\x1b[0n', '\x1b[24;80R'],
    ...[
      '\x1b[8;24;80t',
      '\x1b]11;rgb:0000/0000/0000\x1b\\',
      '\x1b]10;rgb:f/f/f\x07',
      '\x1bP1+r52\x1b\\',
    ],
  ];
  for (const key of keys) expect(hasReplies(Buffer.from(key))).toBe(false);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...keys, ...replies)), (typed) => {
      const alone = typed.filter((one) => keys.includes(one));
      const known = withoutReplies(Buffer.from(typed.join(''))).toString();
      expect(known).toBe(alone.join(''));
    }),
  );
});

test('line feeds that come alone are told from ends of lines, however the output is divided', () => {
  const output = fc.array(fc.constantFrom('\r', '\n', '\r\n', 'x'), { maxLength: 20 });
  fc.assert(
    fc.property(output, fc.nat(30), (parts, at) => {
      const whole = Buffer.from(parts.join(''));
      const feeds = new LineFeeds();
      const pieces = [whole.subarray(0, at), whole.subarray(at)].map((piece) =>
        feeds.convert(piece),
      );
      const expected = whole.toString().replace(/(?<!\r)\n/g, '\x1bD');
      expect(Buffer.concat(pieces).toString()).toBe(expected);
    }),
  );
});

test('modes that were set are taken back, however the output is divided', () => {
  const output = '\x1b[?1049h\x1b[?25l\x1b[?2004;1000h\x1b[>1u text \x1b[?1000l';
  fc.assert(
    fc.property(fc.nat(output.length), fc.nat(output.length), (one, other) => {
      const [first = 0, second = 0] = [one, other].sort((a, b) => a - b);
      const modes = new ShownModes();
      for (const part of [
        output.slice(0, first),
        output.slice(first, second),
        output.slice(second),
      ]) {
        modes.read(Buffer.from(part));
      }
      expect(modes.ending()).toBe(
        '\x1b7\x1b[r\x1b8\x1b[?25h\x1b[?2004l\x1b[<9u\x1b[>4m\x1b[?1049l\x1b>\x1b(B\x1b[0m',
      );
    }),
  );
  expect(new ShownModes().ending()).not.toContain('1049');
});
