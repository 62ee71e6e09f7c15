// How P1 grows with the descriptors that the parent has open.
/** @import { Rounds, Suite } from '../lib/types.d.ts' */
import { closeSync, openSync } from 'node:fs';
import { FLOOR, floorEchoes, LAUNCH_FLOOR } from '../lib/floor-tasks.mjs';
import { descriptorLimit } from '../lib/proc.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, milliseconds, ratioRow, times } from '../lib/rows.mjs';
import { medians, overallMedian, ratio } from '../lib/statistics.mjs';
import { echoTask } from '../lib/tasks.mjs';
import { childProcess, forkline } from '../peers/index.mjs';

const WANTED = 10_000;
const MARGIN = 200; // descriptors that Node and the commands need themselves

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const count = Math.min(WANTED, descriptorLimit() - MARGIN);
    const tasks = [...floorEchoes, echoTask(forkline), echoTask(childProcess)];
    await warmUp(tasks);
    /** @type {((name: string) => Rounds)[]} */
    const few = [];
    /** @type {((name: string) => Rounds)[]} */
    const many = [];
    for (let round = 0; round < (quick ? 4 : 15); round++) {
      few.push(await interleave(tasks, { rounds: 1, iterations: 10 }));
      const open = Array.from({ length: count }, () => openSync('/dev/null', 'r'));
      many.push(await interleave(tasks, { rounds: 1, iterations: 10 }));
      for (const descriptor of open) closeSync(descriptor);
    }
    /** @param {typeof few} rounds @param {string} name */
    const of = (rounds, name) => rounds.flatMap((samples) => samples(name));
    /** @param {string} name */
    const growth = (name) => ratio(of(many, name), of(few, name));
    const others = [FLOOR, LAUNCH_FLOOR, childProcess.name];
    const row = ratioRow({
      id: 'P1 grows',
      what: `run('echo hi'), ${count} descriptors open`,
      figure: milliseconds(overallMedian(of(many, forkline.name))),
      to: `few open ${milliseconds(overallMedian(of(few, forkline.name)))}`,
      value: growth(forkline.name),
      target: atMost(1.1),
      others: Object.fromEntries(others.map((name) => [name, times(growth(name))])),
    });
    const names = [forkline.name, ...others];
    return {
      rows: [row],
      medians: Object.fromEntries(
        names.flatMap((name) => [
          [`${name}, few`, medians(of(few, name))],
          [`${name}, many`, medians(of(many, name))],
        ]),
      ),
    };
  },
};
