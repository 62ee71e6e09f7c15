import { expect, test } from 'vitest';
import { globExpression } from '../../../src/adapters/local-machine/files/glob.js';
import { fc } from '../../support/properties.js';

const matches = (pattern: string, path: string) => globExpression(pattern).test(path);

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'd/a.ts', false],
  ['*.ts', '.ts', true],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'd/e/a.ts', true],
  ['d/**', 'd/e/f', true],
  ['d/**', 'd', false],
  ['**', 'd/e', true],
  ['d/**/f', 'd/f', true],
  ['d/**/f', 'd/e/g/f', true],
  ['?', 'ab', false],
  ['?', '/', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a-c]x', 'dx', true],
  ['a[!b]c', 'a/c', false],
  ['[]]', ']', true],
  ['[z-a]', '[z-a]', true],
  ['*.{ts,js}', 'a.js', true],
  ['*.{ts,js}', 'a.css', false],
  ['{a,}b', 'b', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['a.b', 'axb', false],
  ['/src/*', 'src/a', true],
  ['./src/*', 'src/a', true],
  ['new\nline*', 'new\nline.txt', true],
])('%j and %j: %j', (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected);
});

test('any text is a pattern', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (pattern) => void globExpression(pattern)));
});

test('a name with every character escaped matches itself alone', () => {
  const name = fc.string({ minLength: 1 }).filter((text) => !text.includes('/'));
  fc.assert(
    fc.property(name, name, (one, other) => {
      const pattern = one.replace(/./gs, '\\$&');
      expect(matches(pattern, other)).toBe(one === other);
      expect(matches(pattern, one)).toBe(true);
    }),
  );
});
