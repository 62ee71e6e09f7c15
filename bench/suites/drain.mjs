// P6: reading a command's output to its end as fast as it comes.
/** @import { Peer, Suite, Task } from '../lib/types.d.ts' */
import { performance } from 'node:perf_hooks';
import { drain } from '../lib/floor.mjs';
import { FLOOR, LAUNCH_FLOOR } from '../lib/floor-tasks.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atLeast, atMost, figureRow, percent, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
import { median, overallMedian, ratio } from '../lib/statistics.mjs';
import { childProcess, execa, forkline, present } from '../peers/index.mjs';

/** @typedef {Required<Peer>} Drainer */

/** @param {number} bytes */
const zeros = (bytes) => `head -c ${bytes} /dev/zero`;

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const bytes = quick ? 2 ** 28 : 2 ** 30;
    /** @type {Map<string, number[]>} how busy the event loop was, 0 to 1 */
    const loopUse = new Map();
    /** @param {Drainer} peer @returns {Task} */
    const task = (peer) => ({
      name: peer.name,
      run: async () => {
        const before = performance.eventLoopUtilization();
        await peer.drain(zeros(bytes));
        const { utilization } = performance.eventLoopUtilization(before);
        loopUse.set(peer.name, [...(loopUse.get(peer.name) ?? []), utilization]);
        return undefined;
      },
    });
    const peers = present([childProcess, execa]);
    const tasks = [
      { name: FLOOR, run: () => drain('spawn', zeros(bytes), bytes) },
      { name: LAUNCH_FLOOR, run: () => drain('launch', zeros(bytes), bytes) },
      ...[forkline, ...peers].map(task),
    ];
    await warmUp(tasks, 1);
    loopUse.clear();
    const samples = await interleave(tasks, { rounds: quick ? 3 : 7 });

    /** @param {string} name */
    const speed = (name) => `${(bytes / overallMedian(samples(name)) / 1000).toFixed(0)} MB/s`;
    /** @param {string} name */
    const busy = (name) => median(loopUse.get(name) ?? []);
    const others = [LAUNCH_FLOOR, ...peers.map(({ name }) => name)];
    const rows = [
      ratioRow({
        id: 'P6',
        what: `drain ${bytes / 2 ** 20} MiB, head and tail kept`,
        figure: speed(forkline.name),
        to: `floor ${speed(FLOOR)}`,
        value: ratio(samples(FLOOR), samples(forkline.name)),
        target: atLeast(1),
        launchRatio: ratio(samples(LAUNCH_FLOOR), samples(forkline.name)),
        others: ratiosTo(samples, others, FLOOR, 'speed'),
      }),
      figureRow({
        id: 'P6',
        what: 'event loop use meanwhile',
        figure: percent(busy(forkline.name)),
        value: busy(forkline.name),
        target: atMost(0.01, '≤ 1 %'),
        others: Object.fromEntries(peers.map(({ name }) => [name, percent(busy(name))])),
      }),
    ];
    return report(rows, samples, [forkline.name, FLOOR, ...others]);
  },
};
