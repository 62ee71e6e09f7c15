import { expect, test } from 'vitest';
import { collectVariable, parseSeconds, parseSize } from '../../src/cli/arguments.js';

test.each([
  ['5', 5000],
  ['0.5', 500],
  ['0.0001', 1],
])('%s seconds are %d ms', (text, milliseconds) => {
  expect(parseSeconds(text)).toBe(milliseconds);
});

test.each(['', '0', '-1', '5s', 'NaN', 'Infinity', '1e3', ' 5'])('%j is no time', (text) => {
  expect(() => parseSeconds(text)).toThrow('Expected a number of seconds above 0.');
});

test.each([
  ['0', 0],
  ['4096', 4096],
  ['64K', 65_536],
  ['64k', 65_536],
  ['1M', 1_048_576],
  ['2G', 2_147_483_648],
])('%s is %d bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(['', '-1', '1.5M', 'K', '64KB', '64T'])('%j is no size', (text) => {
  expect(() => parseSize(text)).toThrow('Expected a number of bytes');
});

test('a size beyond counting is too large', () => {
  expect(() => parseSize('99999999999999999999')).toThrow('Too large');
});

test('variables add up, and their values may have anything in them', () => {
  const first = collectVariable('A=1');
  expect(collectVariable('B=x=y z', first)).toEqual({ A: '1', B: 'x=y z' });
  expect(collectVariable('A=', first)).toEqual({ A: '' });
});

test.each(['A', '=x', ''])('%j is no variable', (text) => {
  expect(() => collectVariable(text)).toThrow('Expected NAME=value.');
});
