// P11: the workspace tool's cost beyond run(): validation, notices, its environment, the result.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, report } from '../lib/rows.mjs';
import { difference, overallMedian } from '../lib/statistics.mjs';
import { loadForkline } from '../peers/forkline.mjs';

const { createBashTool, run } = await loadForkline();

const TOOL = 'workspace tool';
const ALIKE = 'run() with its variables';
const BARE = 'run()';
const COMMAND = 'echo hi';
const cwd = process.cwd();

/** The variables that the tool gives a command and `run()` does not. */
async function toolVariables() {
  const tool = createBashTool({ contract: 'workspace', cwd });
  try {
    const command = `'${process.execPath}' -p 'JSON.stringify(process.env)'`;
    const { content } = await tool.execute({ command });
    const all = JSON.parse(content[0]?.text.split('\n')[0] ?? '');
    const own = Object.entries(all).filter(([name, value]) => process.env[name] !== value);
    return Object.fromEntries(own.filter(([name]) => name !== '_' && name !== 'SHLVL'));
  } finally {
    await tool.dispose();
  }
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const env = await toolVariables();
    const tool = createBashTool({ contract: 'workspace', cwd });
    /** @type {Task[]} */
    const tasks = [
      { name: TOOL, run: async () => void (await tool.execute({ command: COMMAND })) },
      { name: ALIKE, run: async () => void (await run(COMMAND, { cwd, env })) },
      { name: BARE, run: async () => void (await run(COMMAND)) },
    ];
    await warmUp(tasks, quick ? 50 : 200);
    const samples = await interleave(tasks, { rounds: quick ? 10 : 150, iterations: 10 });
    await tool.dispose();
    const [alike, bare] = [ALIKE, BARE].map((name) => difference(samples(TOOL), samples(name)));
    const row = figureRow({
      id: 'P11',
      what: `workspace tool's execute('${COMMAND}') above ${ALIKE}`,
      figure: milliseconds(alike ?? Number.NaN),
      value: alike ?? Number.NaN,
      target: atMost(0.04, '≤ 40 µs'),
      others: {
        [`above ${BARE}`]: milliseconds(bare ?? Number.NaN),
        [BARE]: milliseconds(overallMedian(samples(BARE))),
      },
    });
    return report([row], samples, [TOOL, ALIKE, BARE]);
  },
};
