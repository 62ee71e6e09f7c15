// P3: what a command costs the main thread, which is the agent's.
/** @import { Peer, Suite, Task } from '../lib/types.d.ts' */
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadNanoseconds } from '../lib/proc.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { echo, echoTask } from '../lib/tasks.mjs';
import { childProcess, execa, forkline, nanoSpawn, tinyexec } from '../peers/index.mjs';

const peers = [tinyexec, nanoSpawn, execa];
const NS_PER_MS = 1e6;

/** The main thread's time on a CPU so far, after a sleep that made the kernel count it. */
async function mainThread() {
  await sleep(2);
  return mainThreadNanoseconds();
}

/**
 * @param {Peer} peer
 * @param {number} count
 * @returns {Task}
 */
const cost = (peer, count) => ({
  name: peer.name,
  run: async () => {
    const before = await mainThread();
    for (let index = 0; index < count; index++) await echo(peer);
    return ((await mainThread()) - before) / count / NS_PER_MS;
  },
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const all = [forkline, childProcess, ...peers];
    // Long enough for the compiler to have seen everybody's code.
    await warmUp(all.map(echoTask), quick ? 30 : 100);
    const tasks = all.map((peer) => cost(peer, 100));
    const samples = await interleave(tasks, { rounds: quick ? 3 : 9 });
    const others = peers.map(({ name }) => name);
    const row = ratioRow({
      id: 'P3',
      what: "main thread's CPU a command",
      figure: milliseconds(overallMedian(samples(forkline.name))),
      to: `child_process ${milliseconds(overallMedian(samples(childProcess.name)))}`,
      value: ratio(samples(forkline.name), samples(childProcess.name)),
      target: atMost(1 / 20, '≤ 1/20'),
      others: ratiosTo(samples, others, childProcess.name),
    });
    return report([row], samples, [forkline.name, childProcess.name, ...others]);
  },
};
