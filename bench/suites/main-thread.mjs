// P3: a command's cost for the main thread, which the agent needs.
/** @import { Peer, Suite, Task } from '../lib/types.d.ts' */
import { setTimeout as sleep } from 'node:timers/promises';
import { AWAITED_FLOOR, awaitedEcho } from '../lib/floor-tasks.mjs';
import { mainThreadNanoseconds } from '../lib/proc.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { echo, echoTask } from '../lib/tasks.mjs';
import { childProcess, execa, forkline, nanoSpawn, present, tinyexec } from '../peers/index.mjs';

const peers = present([tinyexec, nanoSpawn, execa]);
const NS_PER_MS = 1e6;

/** Returns the main thread's CPU time, after a sleep that makes the kernel update it. */
async function mainThread() {
  await sleep(2);
  return mainThreadNanoseconds();
}

/**
 * @param {string} name
 * @param {number} count
 * @param {(count: number) => Promise<void>} work
 * @returns {Task}
 */
const cost = (name, count, work) => ({
  name,
  run: async () => {
    const before = await mainThread();
    await work(count);
    return ((await mainThread()) - before) / count / NS_PER_MS;
  },
});

const IN_FLIGHT = 64;

/** @param {Peer} peer */
const oneAtATime = (peer) =>
  cost(peer.name, 100, async (count) => {
    for (let index = 0; index < count; index++) await echo(peer);
  });

/** @param {Peer} peer */
const manyAtOnce = (peer) =>
  cost(inFlight(peer), 320, async (count) => {
    let left = count;
    const line = async () => {
      while (left-- > 0) await echo(peer);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, line));
  });

/** @param {Peer} peer */
const inFlight = (peer) => `${peer.name}, ${IN_FLIGHT} in flight`;

// The least cost on this machine for any program that sleeps until a command ends.
const EMPTY_WAKE = 'an empty wake-up';
const emptyWake = cost(EMPTY_WAKE, 100, async (count) => {
  for (let index = 0; index < count; index++) await sleep(1);
});

// The same with a command in between, which leaves the thread's caches cold.
const awaited = cost(AWAITED_FLOOR, 100, async (count) => {
  for (let index = 0; index < count; index++) await awaitedEcho.run();
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const all = [forkline, childProcess, ...peers];
    // Enough for the compiler to have seen each peer's code.
    await warmUp(all.map(echoTask), quick ? 100 : 300);
    const tasks = [
      ...all.map(oneAtATime),
      emptyWake,
      awaited,
      manyAtOnce(forkline),
      manyAtOnce(childProcess),
    ];
    const samples = await interleave(tasks, { rounds: quick ? 3 : 9 });
    const others = [childProcess, ...peers].map(({ name }) => name);
    const figure = milliseconds(overallMedian(samples(forkline.name)));
    const rows = [
      ratioRow({
        id: 'P3',
        what: "main thread's CPU a command, one at a time, to the least in JavaScript",
        figure,
        to: `${AWAITED_FLOOR} ${milliseconds(overallMedian(samples(AWAITED_FLOOR)))}`,
        value: ratio(samples(forkline.name), samples(AWAITED_FLOOR)),
        target: atMost(1.2),
      }),
      ratioRow({
        id: 'P3',
        what: "main thread's CPU a command, one at a time",
        figure,
        to: `${EMPTY_WAKE} ${milliseconds(overallMedian(samples(EMPTY_WAKE)))}`,
        value: ratio(samples(forkline.name), samples(EMPTY_WAKE)),
        others: ratiosTo(samples, [AWAITED_FLOOR, ...others], EMPTY_WAKE),
      }),
      ratioRow({
        id: 'P3',
        what: `main thread's CPU a command, ${IN_FLIGHT} in flight`,
        figure: milliseconds(overallMedian(samples(inFlight(forkline)))),
        to: `child_process ${milliseconds(overallMedian(samples(inFlight(childProcess))))}`,
        value: ratio(samples(inFlight(forkline)), samples(inFlight(childProcess))),
        target: atMost(1 / 20, '≤ 1/20'),
      }),
    ];
    return report(
      rows,
      samples,
      tasks.map(({ name }) => name),
    );
  },
};
