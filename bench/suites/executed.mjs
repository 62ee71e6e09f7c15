// P20: what decisions on programs cost a program that a command in a sandbox starts.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { loadForkline } from '../peers/forkline.mjs';

const { run } = await loadForkline();

/** The programs that one command starts, which are many so that its own start does not count. */
const COUNT = 300;
const COMMAND = `for ((i = 0; i < ${COUNT}; i++)); do /bin/true; done`;
const rules = [{ program: 'rm', argv: [/^-\w*r/], answer: /** @type {const} */ ('deny') }];

const WITHOUT = 'a sandbox';
const LINES = [
  { name: 'off', exec: {}, target: atMost(1.02, '1.00') },
  { name: 'recorded', exec: { record: true }, target: atMost(1.1) },
  { name: 'exact', exec: { rules }, target: atMost(1.3) },
  { name: 'exact and recorded', exec: { record: true, rules }, target: undefined },
];

/**
 * @param {string} cwd
 * @param {string} name
 * @param {object} [exec]
 * @returns {Task}
 */
const task = (cwd, name, exec) => ({
  name,
  run: async () => {
    const sandbox = exec === undefined ? {} : { exec };
    const { outcome, durationMs } = await run(COMMAND, { cwd, sandbox });
    if (outcome.kind !== 'exited' || outcome.exitCode !== 0) throw new Error(`${name} failed`);
    return durationMs / COUNT;
  },
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const cwd = mkdtempSync(join(tmpdir(), 'forkline-bench-'));
    try {
      const tasks = [task(cwd, WITHOUT), ...LINES.map(({ name, exec }) => task(cwd, name, exec))];
      await warmUp(tasks);
      const samples = await interleave(tasks, { rounds: quick ? 6 : 30 });
      const rows = LINES.map(({ name, target }) =>
        ratioRow({
          id: 'P20',
          what: `a program that a command in a sandbox starts, p50, decisions on programs: ${name}`,
          figure: milliseconds(overallMedian(samples(name))),
          to: `without ${milliseconds(overallMedian(samples(WITHOUT)))}`,
          value: ratio(samples(name), samples(WITHOUT)),
          ...(target && { target }),
        }),
      );
      const names = tasks.map(({ name }) => name);
      return report(rows, samples, names);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  },
};
