// What one command costs, by counting: times vary, the numbers of system calls and of waits do not.
import { expect, test } from 'vitest';
import { count } from '../../bench/lib/counts/count.mjs';
import type { Counts, Kind } from '../../bench/lib/counts/types.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { installed, skipFor, where } from '../support/needs.js';

leavesNothingBehind();

const COMMANDS = 200;
const options = { timeout: 120_000, ...where(installed('strace')) };

/**
 * System calls of a command: what was counted as root (28, 25, 12 and 38), and room for a label of a security module,
 * and for a slow machine, where the start of a command is told by itself.
 */
const MOST: Partial<Record<Kind, number>> = {
  'main thread': 29.5,
  launcher: 26,
  reactor: 15,
  cradle: 41,
};
const MOST_IN_ALL = 108;

const callsOf = ({ rows }: Counts, kind: Kind): number =>
  [...(rows.find((row) => row.kind === kind)?.calls.values() ?? [])].reduce((a, b) => a + b, 0);
const waitsOf = ({ rows }: Counts): number => rows.reduce((sum, row) => sum + row.voluntary, 0);

test.for([
  // The threads and processes of a command wait six times, one after another.
  { lanes: 1, waits: 7.5, more: 0 },
  // These overlap, and so many fall away; how many depends on the machine. Some need a new cradle, for which the
  // launcher has five calls more.
  { lanes: 64, waits: 6.5, more: 6 },
])(
  'with $lanes in flight a command takes no more system calls and waits than it did',
  options,
  async ({ lanes, waits, more }, context) => {
    const counts = await count(COMMANDS, lanes);
    expect(waitsOf(counts)).toBeLessThan(waits);
    if (counts.missing !== undefined) skipFor(context, counts.missing);
    const kinds = Object.keys(MOST) as Kind[];
    const calls = kinds.map((kind) => callsOf(counts, kind));
    for (const [index, kind] of kinds.entries()) {
      expect(calls[index], kind).toBeGreaterThan(5);
      expect(calls[index], kind).toBeLessThanOrEqual((MOST[kind] ?? 0) + more);
    }
    expect(calls.reduce((sum, number) => sum + number, 0)).toBeLessThanOrEqual(MOST_IN_ALL + more);
  },
);
