// P14: the cost of a snapshot of the user's shell for a command.
/** @import { Report, Suite, Task } from '../lib/types.d.ts' */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionsOf } from '../lib/rc-files.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, report, times } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { loadForkline } from '../peers/forkline.mjs';

const { createBashTool } = await loadForkline();

const NONE = 'no snapshot';
const KIB = 1024;

/** The commands of each tool: all print the same. */
const COMMANDS = {
  'echo hi': 'echo hi',
  'a name that is made': 'say=echo; $say hi',
  'a function': 'tool_greet',
};

/** What a snapshot may cost a command that needs nothing of it. */
const LIMIT = 1.05;

/**
 * @typedef {object} Setting
 * @property {string} name
 * @property {string} [rcFile]
 * @property {number} [call] what a call of a function may cost: the target, where there is one
 */

/**
 * @param {string} folder
 * @returns {Setting[]}
 */
function settings(folder) {
  /**
   * @param {string} name
   * @param {string} text
   */
  const written = (name, text) => {
    const rcFile = join(folder, `${name}.rc`);
    writeFileSync(rcFile, text);
    return { name, rcFile };
  };
  const nvm = join(homedir(), '.nvm', 'nvm.sh');
  return [
    { name: NONE },
    { ...written('100 KiB', functionsOf(100 * KIB)), call: 1.5 },
    { ...written('1 MiB', functionsOf(1024 * KIB)), call: 2 },
    ...(existsSync(nvm)
      ? [written('nvm.sh', `tool_greet() { echo hi; }\n. '${nvm}' --no-use\n`)]
      : []),
  ];
}

/**
 * @param {Setting} setting
 * @param {string} command
 */
const taskName = ({ name }, command) => `${name}: ${command}`;

/**
 * @param {readonly Setting[]} all
 * @returns {{ tasks: Task[], dispose: () => Promise<void> }}
 */
function tasksOf(all) {
  const tools = all.map((setting) => {
    const { rcFile } = setting;
    const shellSnapshot = rcFile === undefined ? false : { rcFile, timeoutMs: 60_000 };
    return {
      setting,
      tool: createBashTool({ contract: 'workspace', cwd: tmpdir(), shellSnapshot }),
    };
  });
  const tasks = tools.flatMap(({ setting, tool }) =>
    Object.entries(COMMANDS)
      .filter(([what]) => setting.name !== NONE || what !== 'a function')
      .map(([what, command]) => ({
        name: taskName(setting, what),
        run: async () => {
          const { content } = await tool.execute({ command });
          const text = content[0]?.text ?? '';
          if (!text.startsWith('hi\n')) throw new Error(`${command} answered ${text}`);
          return undefined;
        },
      })),
  );
  return {
    tasks,
    dispose: async () => void (await Promise.all(tools.map(({ tool }) => tool.dispose()))),
  };
}

/**
 * @param {readonly Setting[]} all
 * @param {boolean} quick
 * @returns {Promise<Report>}
 */
async function measure(all, quick) {
  const { tasks, dispose } = tasksOf(all);
  try {
    await warmUp(tasks, quick ? 5 : 20);
    const samples = await interleave(tasks, { rounds: quick ? 10 : 100, iterations: 4 });
    const none = { name: NONE };
    /**
     * @param {Setting} setting
     * @param {string} what
     * @param {string} [to]
     */
    const toNone = (setting, what, to = what) =>
      ratio(samples(taskName(setting, what)), samples(taskName(none, to)));
    const rows = all.flatMap((setting) => {
      if (setting.rcFile === undefined) return [];
      /** @param {string} what */
      const figure = (what) => milliseconds(overallMedian(samples(taskName(setting, what))));
      return [
        ratioRow({
          id: 'P14',
          what: `echo hi with a snapshot, ${setting.name} of functions`,
          figure: figure('echo hi'),
          to: NONE,
          value: toNone(setting, 'echo hi'),
          target: atMost(LIMIT),
          others: { 'a name that is made': times(toNone(setting, 'a name that is made')) },
        }),
        ratioRow({
          id: 'P14',
          what: `a function of the snapshot is called, ${setting.name} of functions`,
          figure: figure('a function'),
          to: NONE,
          value: toNone(setting, 'a function', 'echo hi'),
          ...(setting.call === undefined ? {} : { target: atMost(setting.call) }),
        }),
      ];
    });
    return report(
      rows,
      samples,
      tasks.map(({ name }) => name),
    );
  } finally {
    await dispose();
  }
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'forkline-bench-'));
    try {
      return await measure(settings(folder), quick);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
