import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { InputError, shellQuote } from '../../src/index.js';
import { fc } from './properties.js';

const words = fc.array(
  fc.string({ unit: 'binary' }).filter((word) => !word.includes('\0')),
  { maxLength: 5 },
);

/** What a shell makes of a text: its words, each ended by NUL. */
const readBy = (shell: string, text: string) =>
  execFileSync(shell, ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' });

test.each(['/bin/sh', '/bin/bash'])('%s reads back what was quoted', (shell) => {
  fc.assert(
    fc.property(words, (given) => {
      fc.pre(given.length > 0);
      const text = shellQuote(given);
      expect(readBy(shell, text)).toBe(given.map((word) => `${word}\0`).join(''));
    }),
    { numRuns: 50 },
  );
});

test.each([
  ['plain/word-1.txt', 'plain/word-1.txt'],
  ['', "''"],
  ["it's", "'it'\\''s'"],
  [['time', 'ls', '-l'], "'time' ls -l"],
  [['A=1', '~'], "'A=1' '~'"],
] as const)('%j is %s', (given, text) => {
  expect(shellQuote(given)).toBe(text);
});

test.each([[5], [['a', undefined]], ['a\0']])('%j is refused', (given) => {
  expect(() => shellQuote(given as string)).toThrow(InputError);
});
