// P19: what 100 tools cost the main thread when all are called for the first time at once.
/** @import { Suite } from '../lib/types.d.ts' */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, report } from '../lib/rows.mjs';
import { overallMedian } from '../lib/statistics.mjs';

const FIRST = 'first calls';
const SECOND = 'second calls';
const BARE = 'as many run()';

const execute = promisify(execFile);
const sample = fileURLToPath(new URL('../lib/first-calls-process.mjs', import.meta.url));

/** @returns {Promise<{ first: number, second: number, bare: number }>} */
async function inNewProcess() {
  const { stdout } = await execute(process.execPath, [sample]);
  return JSON.parse(stdout);
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    let [second, bare] = [Number.NaN, Number.NaN];
    const tasks = [
      {
        name: FIRST,
        run: async () => {
          const found = await inNewProcess();
          ({ second, bare } = found);
          return found.first;
        },
      },
      // The figures of the same process as before, which measures all three.
      { name: SECOND, run: async () => second },
      { name: BARE, run: async () => bare },
    ];
    await warmUp(tasks, 1);
    const samples = await interleave(tasks, { rounds: quick ? 5 : 25 });
    const value = overallMedian(samples(FIRST));
    const row = figureRow({
      id: 'P19',
      what: 'first calls of 100 tools at once: longest block of the main thread',
      figure: milliseconds(value),
      value,
      target: atMost(10, '≤ 10 ms'),
      others: Object.fromEntries(
        [SECOND, BARE].map((name) => [name, milliseconds(overallMedian(samples(name)))]),
      ),
    });
    return report([row], samples, [FIRST, SECOND, BARE]);
  },
};
