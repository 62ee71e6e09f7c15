// P13: the time to import the package, each time in a new process.
/** @import { Rounds, Suite, Task } from '../lib/types.d.ts' */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hasPackage } from '../lib/left-out.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, report } from '../lib/rows.mjs';
import { difference, overallMedian } from '../lib/statistics.mjs';

const FORKLINE = 'forkline';
const TINYEXEC = 'tinyexec';
const peers = ['execa', 'nano-spawn', TINYEXEC].filter(hasPackage);
const LIMIT_MS = 3;

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
      others: Object.fromEntries(others),
    });
    const rows = peers.includes(TINYEXEC) ? [aboveTinyexec(samples), row] : [row];
    return report(rows, samples, [FORKLINE, ...peers]);
  },
};

/** @param {(name: string) => Rounds} samples */
function aboveTinyexec(samples) {
  const value = difference(samples(FORKLINE), samples(TINYEXEC));
  return figureRow({
    id: 'P13',
    what: "import 'forkline', in a new process, above tinyexec's",
    figure: milliseconds(value),
    value,
    target: atMost(LIMIT_MS, `≤ ${LIMIT_MS} ms`),
  });
}
