// P10: the time to end all processes of a command, including those that have left its group.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup } from '../lib/floor.mjs';
import { childrenOf, identityOf } from '../lib/left-processes.mjs';
import { needProgram } from '../lib/not-measured.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { loadForkline } from '../peers/forkline.mjs';

const { spawn } = await loadForkline();

const FAMILY = 100;
const LEAVERS = 10;
const FLOOR = "floor's group kill";
const FORKLINE = 'forkline';
const STAYERS = `${FORKLINE}, none left the group`;

/** The processes of the last command, with their start, by which a later one with the same id is another. */
/** @type {Map<number, string | undefined>} */
let last = new Map();

/**
 * Waits until all processes of the last command have been reaped: some init takes seconds, and then each search
 * for processes would include the zombies of all rounds.
 */
async function reaped() {
  const isThere = (/** @type {[number, string | undefined]} */ [pid, startedAt]) =>
    identityOf(pid)?.startedAt === startedAt;
  for (const until = performance.now() + 10_000; performance.now() < until; await sleep(50)) {
    if (![...last].some(isThere)) return;
  }
  throw new Error('the processes of the last command are not reaped');
}

/** @param {number} leavers the number of processes, of the hundred, with a session of their own */
async function killFamily(leavers) {
  // The shell is one of the hundred.
  const stayers = FAMILY - leavers - 1;
  const process = await spawn(
    `for i in $(seq ${stayers}); do sleep 1000 & done
     for i in $(seq ${leavers}); do setsid sleep 1000 & done
     until [ "$(pgrep -c -P $$ -x sleep)" = ${FAMILY - 1} ]; do sleep 0.01; done
     echo ready; wait`,
  );
  try {
    for await (const { text } of process) if (text.includes('ready')) break;
    await reaped();
    last = new Map(childrenOf(process.pid).map((pid) => [pid, identityOf(pid)?.startedAt]));
    const before = performance.now();
    await process.kill({ graceMs: 0 });
    return performance.now() - before;
  } finally {
    // Nothing if it has ended.
    await process.kill({ graceMs: 0 });
  }
}

/** @type {readonly Task[]} */
const tasks = [
  { name: FLOOR, run: () => killGroup('exec sleep 1000', FAMILY) },
  { name: FORKLINE, run: () => killFamily(LEAVERS) },
  { name: STAYERS, run: () => killFamily(0) },
];

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    // Without them the command would wait for ever.
    needProgram('pgrep', "Debian's package procps");
    needProgram('setsid', "Debian's package util-linux");
    await warmUp(tasks, 1);
    const samples = await interleave(tasks, { rounds: quick ? 4 : 20 });
    const row = ratioRow({
      id: 'P10',
      what: `kill ${FAMILY} processes, ${LEAVERS} of them out of the group, until all are gone`,
      figure: milliseconds(overallMedian(samples(FORKLINE))),
      to: `${FLOOR} ${milliseconds(overallMedian(samples(FLOOR)))}`,
      value: ratio(samples(FORKLINE), samples(FLOOR)),
      target: atMost(1.3),
      others: { [STAYERS]: ratio(samples(STAYERS), samples(FLOOR)).toFixed(2) },
    });
    return report([row], samples, [FORKLINE, STAYERS, FLOOR]);
  },
};
