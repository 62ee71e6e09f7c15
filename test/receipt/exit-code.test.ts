import { expect, test } from 'vitest';
import { exitCodeOf, run, textOf } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

test.each([
  ['exit 7', {}, 7],
  ['kill -9 $$', {}, 137],
  ['kill -34 $$', {}, 162],
  ['sleep 10', { timeoutMs: 50 }, 124],
  ['sleep 10', { signal: AbortSignal.timeout(50) }, 143],
] as const)('the end of `%s` with %j has the exit code %i', async (command, options, code) => {
  expect(exitCodeOf((await run(command, options)).outcome)).toBe(code);
});

test('an unknown end has the exit code 125', () => {
  expect(exitCodeOf({ kind: 'unknown' })).toBe(125);
});

test('the kept parts of a stream are one text, with a line for the dropped part', async () => {
  const text = async (command: string, headBytes: number, tailBytes: number) =>
    textOf((await run(command, { headBytes, tailBytes })).output);
  expect(await text('seq 3', 10, 10)).toBe('1\n2\n3\n');
  expect(await text('seq 9', 4, 4)).toBe('1\n2\n[… 10B, 5 lines, not shown …]\n8\n9\n');
  expect(await text('seq 9', 0, 4)).toBe('[… 14B, 7 lines, not shown …]\n8\n9\n');
  expect(await text('printf abcdefgh', 2, 2)).toBe('ab\n[… 4B, 0 lines, not shown …]\ngh');
});
