// P13: the time to import the package, each time in a new process.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, report } from '../lib/rows.mjs';
import { overallMedian } from '../lib/statistics.mjs';

const FORKLINE = 'forkline';
const peers = ['execa', 'nano-spawn', 'tinyexec'];

const execute = promisify(execFile);

/** @param {string} code an expression that an ES module prints */
async function inNewProcess(code) {
  const args = ['--input-type=module', '--eval', `console.log(${code})`];
  // Run from here, since this package finds itself by its own name.
  const { stdout } = await execute(process.execPath, args, { cwd: import.meta.dirname });
  return stdout.trim();
}

/**
 * @param {string} name
 * @returns {Task}
 */
const importing = (name) => ({
  name,
  run: async () =>
    Number(
      await inNewProcess(
        `await (async (before) => (await import('${name}'), performance.now() - before))(performance.now())`,
      ),
    ),
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const tasks = [FORKLINE, ...peers].map(importing);
    await warmUp(tasks, 2);
    const samples = await interleave(tasks, { rounds: quick ? 5 : 25 });
    const value = overallMedian(samples(FORKLINE));
    const others = peers.map((name) => [name, milliseconds(overallMedian(samples(name)))]);
    const row = figureRow({
      id: 'P13',
      what: "import 'forkline', in a new process",
      figure: milliseconds(value),
      value,
      target: atMost(25, '≤ 25 ms'),
      others: Object.fromEntries(others),
    });
    return report([row], samples, [FORKLINE, ...peers]);
  },
};
