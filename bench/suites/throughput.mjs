// P2: as many commands a second as the machine allows, 64 in flight.
/** @import { Peer, Suite, Task } from '../lib/types.d.ts' */
import { batchOf } from '../lib/batch.mjs';
import { CRADLE_FLOOR, FLOOR, floorThroughputs, LAUNCH_FLOOR } from '../lib/floor-tasks.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atLeast, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { echo, inFlight } from '../lib/tasks.mjs';
import { childProcess, execa, forkline, nanoSpawn, present, tinyexec } from '../peers/index.mjs';

const LIMIT = 64;
const peers = present([childProcess, tinyexec, nanoSpawn, execa]);

/**
 * @param {Peer} peer
 * @param {number} count
 * @returns {Task}
 */
const batch = (peer, count) => ({
  name: peer.name,
  run: () => inFlight(count, LIMIT, () => echo(peer)),
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const count = batchOf(quick);
    const tasks = [
      ...floorThroughputs(count, LIMIT),
      ...[forkline, ...peers].map((peer) => batch(peer, count)),
    ];
    await warmUp([...[forkline, ...peers].map((peer) => batch(peer, LIMIT))], 1);
    const samples = await interleave(tasks, { rounds: quick ? 3 : 7 });
    /** @param {string} name */
    const perSecond = (name) => `${((count / overallMedian(samples(name))) * 1000).toFixed(0)}/s`;
    const others = [LAUNCH_FLOOR, CRADLE_FLOOR, ...peers.map(({ name }) => name)];
    const rows = [
      ratioRow({
        id: 'P2',
        what: 'commands a second, 64 in flight, to those of its shape in C++',
        figure: perSecond(forkline.name),
        to: `${CRADLE_FLOOR} ${perSecond(CRADLE_FLOOR)}`,
        value: ratio(samples(CRADLE_FLOOR), samples(forkline.name)),
        target: atLeast(0.95),
      }),
      ratioRow({
        id: 'P2',
        what: 'commands a second, 64 in flight',
        figure: perSecond(forkline.name),
        to: `floor ${perSecond(FLOOR)}`,
        value: ratio(samples(FLOOR), samples(forkline.name)),
        launchRatio: ratio(samples(LAUNCH_FLOOR), samples(forkline.name)),
        others: ratiosTo(samples, others, FLOOR, 'speed'),
      }),
    ];
    return report(rows, samples, [forkline.name, FLOOR, ...others]);
  },
};
