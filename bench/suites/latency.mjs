// P1: one command at a time.
/** @import { Suite } from '../lib/types.d.ts' */
import {
  AWAITED_FLOOR,
  awaitedEcho,
  CRADLE_FLOOR,
  cradleEcho,
  FLOOR,
  floorEchoes,
  LAUNCH_FLOOR,
} from '../lib/floor-tasks.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { echoTask } from '../lib/tasks.mjs';
import { childProcess, execa, forkline, nanoSpawn, present, tinyexec } from '../peers/index.mjs';

const peers = present([childProcess, tinyexec, nanoSpawn, execa]);

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const tasks = [...floorEchoes, cradleEcho, awaitedEcho, ...[forkline, ...peers].map(echoTask)];
    await warmUp(tasks);
    const samples = await interleave(tasks, { rounds: quick ? 8 : 40, iterations: 10 });
    const others = [LAUNCH_FLOOR, CRADLE_FLOOR, AWAITED_FLOOR, ...peers.map(({ name }) => name)];
    const figure = milliseconds(overallMedian(samples(forkline.name)));
    const rows = [
      ratioRow({
        id: 'P1',
        what: "run('echo hi'), p50, to the least in JavaScript",
        figure,
        to: `${AWAITED_FLOOR} ${milliseconds(overallMedian(samples(AWAITED_FLOOR)))}`,
        value: ratio(samples(forkline.name), samples(AWAITED_FLOOR)),
        target: atMost(1.05),
      }),
      ratioRow({
        id: 'P1',
        what: "run('echo hi'), p50",
        figure,
        to: `floor ${milliseconds(overallMedian(samples(FLOOR)))}`,
        value: ratio(samples(forkline.name), samples(FLOOR)),
        launchRatio: ratio(samples(forkline.name), samples(LAUNCH_FLOOR)),
        others: ratiosTo(samples, others, FLOOR),
      }),
    ];
    return report(rows, samples, [forkline.name, FLOOR, ...others]);
  },
};
