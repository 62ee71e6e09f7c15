// P22's bounds: a process with all that it starts has no more memory than it was given.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeMemoryGroup } from '../../bench/lib/small/memory-group.mjs';
import { leavesNothingBehind } from '../support/leftovers.js';
import { need, where } from '../support/needs.js';

leavesNothingBehind();

const MIB = 2 ** 20;
const tried = makeMemoryGroup(64 * MIB);
await tried?.end();
const GROUP = need(tried !== undefined, 'no control group of its own');

/** Runs bash in a new group, and has it keep so much text. */
async function keeping(mebibytes: number) {
  const group = makeMemoryGroup(64 * MIB);
  if (group === undefined) throw new Error('no group was made');
  const [file = '', ...words] = group.words;
  const text = `x=$(head -c ${mebibytes * MIB} /dev/zero | tr '\\0' x); echo \${#x}`;
  const { status, signal, stdout } = spawnSync(file, [...words, 'bash', '-c', text]);
  const peak = group.peakBytes();
  await group.end();
  return { status, signal, printed: stdout.toString().trim(), peak };
}

test('a process in bounds runs, and its memory is told', where(GROUP), async () => {
  const { status, printed, peak = 5 * MIB } = await keeping(4);
  expect({ status, printed }).toEqual({ status: 0, printed: String(4 * MIB) });
  expect(peak).toBeGreaterThan(4 * MIB);
  expect(peak).toBeLessThanOrEqual(64 * MIB);
});

test('one that needs more ends', where(GROUP), async () => {
  const { status, signal, printed } = await keeping(128);
  expect(status === 0 && signal === null && printed !== '').toBe(false);
});
