import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { EndKey } from '../../src/index.js';
import { ESCAPE_DELAY_MS, KeyReader } from '../../src/terminal/keys.js';
import { fc } from '../support/properties.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function reader(applicationCursorKeys = false, endKey: EndKey = 'Esc') {
  const seen = { forwarded: '', escapes: 0 };
  const keys = new KeyReader(
    {
      forward: (bytes) => {
        seen.forwarded += Buffer.from(bytes).toString('latin1');
      },
      end: () => {
        seen.escapes += 1;
      },
      applicationCursorKeys: () => applicationCursorKeys,
    },
    endKey,
  );
  return { keys, seen };
}

test.each([
  ['a lone ESC', ['\x1b']],
  ['an ESC after other keys', ['abc\x1b']],
  ['two of them at once', ['\x1b\x1b']],
  ['two of them, quickly', ['\x1b', '\x1b']],
])('%s is the Esc key, once nothing follows', (_, chunks) => {
  const { keys, seen } = reader();
  for (const chunk of chunks) keys.push(chunk);
  vi.advanceTimersByTime(ESCAPE_DELAY_MS - 1);
  expect(seen.escapes).toBe(0);
  vi.advanceTimersByTime(1);
  expect(seen).toEqual({ forwarded: chunks.join('').replaceAll('\x1b', ''), escapes: 1 });
});

test.each([
  ['a cursor key', ['\x1b[A']],
  ['a cursor key in two pieces', ['\x1b', '[A']],
  ['a cursor key in three pieces', ['\x1b', '[', 'A']],
  ['a function key', ['\x1b[15~']],
  ['Alt and a key', ['\x1bx']],
  ['Alt and a cursor key', ['\x1b\x1b[A']],
  ['pasted text', ['\x1b[200~a\nb\x1b[201~']],
  ['Alt and [', ['\x1b[']],
  ['a character in two pieces', ['\u00e2', '\u0082\u00ac']],
])('%s is not the Esc key', (_, chunks) => {
  const { keys, seen } = reader();
  for (const chunk of chunks) keys.push(Buffer.from(chunk, 'latin1'));
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual({ forwarded: chunks.join(''), escapes: 0 });
});

test('cursor keys are sent in the way that the command wants', () => {
  const normal = reader();
  const application = reader(true);
  for (const { keys } of [normal, application]) keys.push('\x1b[A\x1bOB\x1b[1;5C\x1b[H');
  expect(normal.seen.forwarded).toBe('\x1b[A\x1b[B\x1b[1;5C\x1b[H');
  expect(application.seen.forwarded).toBe('\x1bOA\x1bOB\x1b[1;5C\x1bOH');
});

test('Ctrl-^ sends the ESC that the Esc key does not', () => {
  const { keys, seen } = reader();
  keys.push('i\x1e:q\r');
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual({ forwarded: 'i\x1b:q\r', escapes: 0 });
});

test('no keys are forwarded after stop()', () => {
  const { keys, seen } = reader();
  keys.push('\x1b');
  keys.stop();
  vi.advanceTimersByTime(1000);
  expect(seen.escapes).toBe(0);
});

test('bytes arrive in order, however they are divided into reads', () => {
  const piece = fc.constantFrom('\x1b', '[', 'O', 'A', 'x', '\x00', '\xff', '\x1b[1;5C');
  fc.assert(
    fc.property(fc.array(fc.array(piece).map((parts) => parts.join(''))), (chunks) => {
      const { keys, seen } = reader();
      // The end is not a lone ESC, so none of it is the Esc key.
      for (const chunk of [...chunks, 'end']) keys.push(Buffer.from(chunk, 'latin1'));
      vi.advanceTimersByTime(1000);
      // How cursor keys are introduced is the command's wish.
      const plain = (text: string) => text.replaceAll('\x1bO', '\x1b[');
      expect(plain(seen.forwarded)).toBe(plain(`${chunks.join('')}end`));
      expect(seen.escapes).toBe(0);
    }),
  );
});

test('E9: with Ctrl-] as the end, two of them end the command and Esc goes to it', () => {
  const { keys, seen } = reader(false, 'Ctrl-]');
  for (const chunk of ['a\x1b', 'b\x1d', '\x1dc', '\x1d\x1d', '\x1ed\x1d', 'e']) keys.push(chunk);
  keys.push('\x1b');
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual({ forwarded: 'a\x1bbc\x1ed\x1de\x1b', escapes: 2 });
});

test('E9: a single Ctrl-] goes to the command when no second one comes', () => {
  const { keys, seen } = reader(false, 'Ctrl-]');
  keys.push('\x1d');
  vi.advanceTimersByTime(1000);
  keys.push('\x1d');
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual({ forwarded: '\x1d\x1d', escapes: 0 });
});
