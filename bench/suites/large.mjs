// P23: what is serial, and so the most commands a second that a large machine could have.
/** @import { Suite } from '../lib/types.d.ts' */
/** @import { Shares } from '../lib/large/simulation.mjs' */
import { tasks, workOf } from '../lib/counts/threads.mjs';
import { simulate } from '../lib/large/simulation.mjs';
import { figureRow, milliseconds } from '../lib/rows.mjs';
import { ECHO } from '../lib/tasks.mjs';
import { loadForkline } from '../peers/forkline.mjs';

const IN_FLIGHT = 64;
const LARGE = 64;
const COMMANDS = 20_000;

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const { run } = await loadForkline();
    const count = quick ? 800 : 4000;
    let commandMs = 0;
    /** @param {number} most */
    const burst = async (most) => {
      let left = most;
      const lane = async () => {
        while (left-- > 0) {
          const { cpu } = await run(ECHO);
          commandMs += (cpu?.userMs ?? 0) + (cpu?.systemMs ?? 0);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    };
    await burst(count);
    const before = workOf(tasks());
    commandMs = 0;
    await burst(count);
    const works = [...workOf(tasks(), undefined, before).values()];
    /** @param {string} kind */
    const each = (kind) =>
      works.reduce((sum, work) => sum + (work.kind === kind ? work.cpuNs : 0), 0) / count / 1000;
    /** @type {Shares} */
    const shares = {
      main: each('main thread'),
      launcher: each('launcher'),
      reactor: each('reactor'),
      command: (commandMs * 1000) / count + each('cradle'),
    };
    return { rows: [rowOf(shares, 1), rowOf(shares, 4)], medians: {} };
  },
};

/**
 * @param {Shares} shares
 * @param {number} mainThreads
 */
function rowOf(shares, mainThreads) {
  const machine = { processors: LARGE, mainThreads, lanes: 8 * LARGE, commands: COMMANDS };
  const value = simulate(shares, machine);
  /** @param {number} us @param {number} servers */
  const alone = (us, servers) =>
    `${milliseconds(us / 1000)}, ${((servers * 1e6) / us).toFixed(0)}/s`;
  return figureRow({
    id: 'P23',
    what: `${LARGE} processors, ${mainThreads} threads with JavaScript, simulated: commands`,
    figure: `${value.toFixed(0)}/s`,
    value,
    others: {
      'JavaScript alone': alone(shares.main, mainThreads),
      'launcher alone': alone(shares.launcher, 1),
      'reactor alone': alone(shares.reactor, 1),
      'commands alone': alone(shares.command, LARGE),
    },
  });
}
