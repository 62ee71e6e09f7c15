// P22: a small machine, of one core and 256 MiB: commands that wait for each other's processor, and none fails.
/** @import { Suite } from '../lib/types.d.ts' */
/** @import { Measured } from '../lib/small/confined.mjs' */
import { CRADLE_FLOOR, FLOOR } from '../lib/floor-tasks.mjs';
import { hasPackage } from '../lib/left-out.mjs';
import { atMost, figureRow, milliseconds, ratioRow, size, times } from '../lib/rows.mjs';
import { inSmallHost } from '../lib/small/confined.mjs';
import { median, ratio } from '../lib/statistics.mjs';

const BYTES = 256 * 2 ** 20;
const LIMIT = 32;
const FORKLINE = 'forkline';
const others = ['child_process', ...(hasPackage('execa') ? ['execa'] : [])];
const programs = [FLOOR, CRADLE_FLOOR, FORKLINE, ...others];

/** @typedef {Measured[]} Samples one for each round; fewer: its host has died */

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const count = quick ? 200 : 1000;
    /** @type {Map<string, Samples>} */
    const found = new Map(programs.map((program) => [program, []]));
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      for (let turn = 0; turn < programs.length; turn++) {
        // Each round begins with another one, as everywhere.
        const program = programs[(turn + round) % programs.length] ?? FORKLINE;
        const one = await inSmallHost({ program, count, limit: LIMIT, bytes: BYTES });
        if (!('died' in one)) found.get(program)?.push(one);
        else if (!others.includes(program)) throw new Error(`${program}'s host ${one.died}`);
        else found.delete(program);
      }
    }
    return summary(found, count);
  },
};

/**
 * @param {ReadonlyMap<string, Samples>} found
 * @param {number} count
 */
function summary(found, count) {
  /** @param {string} name @param {(one: Measured) => number} figure */
  const rounds = (name, figure) => (found.get(name) ?? []).map((one) => [figure(one)]);
  /** @param {string} name */
  const elapsed = (name) => rounds(name, ({ ms }) => ms);
  /** @param {string} name */
  const errors = (name) => (found.get(name) ?? []).reduce((sum, one) => sum + one.errors, 0);
  /** @param {readonly string[]} names @param {(name: string) => string} show */
  const each = (names, show) =>
    Object.fromEntries(names.map((name) => [name, found.has(name) ? show(name) : 'has died']));
  /** @param {string} name */
  const toFloor = (name) => ratio(elapsed(name), elapsed(FLOOR));
  const what = `${count} × echo hi, ${LIMIT} in flight, on one core and in ${size(BYTES)}`;
  const failed = errors(FORKLINE);
  const rows = [
    ratioRow({
      id: 'P22',
      what,
      figure: milliseconds(median(elapsed(FORKLINE).flat())),
      to: `floor ${milliseconds(median(elapsed(FLOOR).flat()))}`,
      value: toFloor(FORKLINE),
      target: atMost(1.2),
      others: each([CRADLE_FLOOR, ...others], (name) => times(toFloor(name))),
    }),
    figureRow({
      id: 'P22',
      what: 'commands of them that failed',
      figure: String(failed),
      value: failed,
      target: atMost(0, '0'),
      others: each(others, (name) => String(errors(name))),
    }),
    ...memoryRows(found, others),
  ];
  const medians = Object.fromEntries(
    [...found].map(([name, all]) => [name, all.map(({ ms }) => ms)]),
  );
  return { rows, medians };
}

/**
 * The memory of host and commands together, where the kernel tells it; for information.
 * @param {ReadonlyMap<string, Samples>} found
 * @param {readonly string[]} names
 */
function memoryRows(found, names) {
  /** @param {string} name */
  const peak = (name) => median((found.get(name) ?? []).map(({ peakBytes = 0 }) => peakBytes));
  const known = [FORKLINE, ...names].filter((name) => found.has(name));
  if (known.some((name) => peak(name) === 0)) return [];
  return [
    figureRow({
      id: 'P22',
      what: 'memory of all processes, at most',
      figure: size(peak(FORKLINE)),
      value: peak(FORKLINE),
      others: Object.fromEntries(known.slice(1).map((name) => [name, size(peak(name))])),
    }),
  ];
}
