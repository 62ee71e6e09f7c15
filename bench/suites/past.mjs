// How P1 and memory grow with the number of commands run before, and what resources those leave behind.
/** @import { Suite } from '../lib/types.d.ts' */
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { FLOOR, floorEchoes } from '../lib/floor-tasks.mjs';
import { openDescriptors, residentBytes, zombies } from '../lib/proc.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, ratioRow, size, times } from '../lib/rows.mjs';
import { medians, overallMedian, ratio } from '../lib/statistics.mjs';
import { echo, echoTask, inFlight } from '../lib/tasks.mjs';
import { forkline } from '../peers/index.mjs';

const IN_FLIGHT = 64;

/** Measures the resources that a process holds, after some time to release them. */
async function held() {
  globalThis.gc?.();
  // Resources that are kept for the next commands are released after a second or two.
  await sleep(4000);
  return { descriptors: openDescriptors(), zombies: zombies(), memory: heldBytes() };
}

/**
 * Memory in use. V8 sizes its heap by the rate of garbage and keeps tens of megabytes of it empty: of the
 * heap only the used part counts, of all else the resident part.
 */
function heldBytes() {
  const heap = getHeapStatistics();
  return residentBytes() - heap.total_physical_size + heap.used_heap_size;
}

/** @type {Suite} */
export const suite = {
  async measure({ quick, past }) {
    const tasks = [...floorEchoes, echoTask(forkline)];
    const look = { rounds: quick ? 5 : 20, iterations: 10 };
    // Pools are filled and code is compiled by the first thousands; only later growth counts.
    await warmUp(tasks, 10);
    await inFlight(quick ? 500 : 3000, IN_FLIGHT, () => echo(forkline));
    const before = await interleave(tasks, look);
    const heldBefore = await held();
    await inFlight(past, IN_FLIGHT, () => echo(forkline));
    const heldAfter = await held();
    const after = await interleave(tasks, look);

    const memory = heldAfter.memory - heldBefore.memory;
    const left = heldAfter.descriptors - heldBefore.descriptors + heldAfter.zombies;
    /** @param {string} name */
    const growth = (name) => ratio(after(name), before(name));
    const rows = [
      ratioRow({
        id: 'P1 grows',
        what: `run('echo hi') after ${past} commands`,
        figure: milliseconds(overallMedian(after(forkline.name))),
        to: `before ${milliseconds(overallMedian(before(forkline.name)))}`,
        // The floor keeps no state: its change is the machine's, not forkline's.
        value: growth(forkline.name) / growth(FLOOR),
        target: atMost(1.1),
        others: { 'floor, unadjusted': times(growth(FLOOR)) },
      }),
      figureRow({
        id: 'P8 grows',
        what: `memory kept of ${past} commands`,
        figure: size(memory),
        value: memory,
        target: atMost(2 ** 21, '≤ 2 MiB'),
      }),
      figureRow({
        id: 'P8 grows',
        what: 'descriptors and zombies left',
        figure: String(left),
        value: left,
        target: atMost(0, '0'),
      }),
    ];
    const names = [forkline.name, FLOOR];
    return {
      rows,
      medians: Object.fromEntries(
        names.flatMap((name) => [
          [`${name}, before`, medians(before(name))],
          [`${name}, after`, medians(after(name))],
        ]),
      ),
    };
  },
};
