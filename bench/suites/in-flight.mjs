// P9: a thousand commands at once, each of which takes a second.
/** @import { Peer, Rounds, Suite } from '../lib/types.d.ts' */
import { stat } from 'node:fs/promises';
import { throughput } from '../lib/floor.mjs';
import { FLOOR, LAUNCH_FLOOR } from '../lib/floor-tasks.mjs';
import { peakResidentBytes, resetPeakResident, residentBytes, threads } from '../lib/proc.mjs';
import { interleave } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, ratioRow, size, times } from '../lib/rows.mjs';
import { medians, overallMedian, ratio } from '../lib/statistics.mjs';
import { inFlight } from '../lib/tasks.mjs';

const COMMAND = 'sleep 1; echo';
const CAPS = 2 * 128 * 1024;

/** Starts Node's thread pool, which Node creates when needed; its threads are not an engine's. */
async function startNodesThreads() {
  await Promise.all(Array.from({ length: 16 }, () => stat('.')));
}

/**
 * @param {Peer} peer
 * @param {number} count
 */
const thousand = (peer, count) => inFlight(count, count, () => peer.run(COMMAND));

/**
 * Runs a peer once and measures the peak of threads and memory.
 * @param {Peer} peer
 * @param {number} count
 * @param {number} threadsBefore
 */
async function footprint(peer, count, threadsBefore) {
  globalThis.gc?.();
  const before = residentBytes();
  resetPeakResident();
  let most = threads();
  const sampler = setInterval(() => {
    most = Math.max(most, threads());
  }, 50);
  await thousand(peer, count);
  clearInterval(sampler);
  return { threads: most - threadsBefore, memory: (peakResidentBytes() - before) / count };
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const count = quick ? 300 : 1000;
    await startNodesThreads();
    const threadsBefore = threads();
    // Loaded late, so that the engine's threads are counted too.
    const { childProcess, forkline } = await import('../peers/index.mjs');
    for (const peer of [forkline, childProcess]) await peer.run('echo hi');
    const ours = await footprint(forkline, count, threadsBefore);
    const theirs = await footprint(childProcess, count, threads());

    const samples = await interleave(
      [
        { name: FLOOR, run: () => throughput('spawn', COMMAND, count, count) },
        { name: LAUNCH_FLOOR, run: () => throughput('launch', COMMAND, count, count) },
        { name: forkline.name, run: () => thousand(forkline, count) },
        { name: childProcess.name, run: () => thousand(childProcess, count) },
      ],
      { rounds: quick ? 1 : 3 },
    );
    const names = [forkline.name, FLOOR, LAUNCH_FLOOR, childProcess.name];
    return {
      rows: rows(count, ours, theirs, samples),
      medians: Object.fromEntries(names.map((name) => [name, medians(samples(name))])),
    };
  },
};

/**
 * @typedef {{ threads: number, memory: number }} Footprint
 * @param {number} count
 * @param {Footprint} ours
 * @param {Footprint} theirs
 * @param {(name: string) => Rounds} samples
 */
function rows(count, ours, theirs, samples) {
  /** @param {string} name */
  const toFloor = (name) => ratio(samples(name), samples(FLOOR));
  return [
    figureRow({
      id: 'P9',
      what: `threads added by ${count} in flight`,
      figure: String(ours.threads),
      value: ours.threads,
      target: atMost(8, '≤ 8'),
      others: { child_process: String(theirs.threads) },
    }),
    figureRow({
      id: 'P9',
      what: 'memory a command',
      figure: size(ours.memory),
      value: ours.memory,
      target: atMost(16 * 1024 + CAPS, '≤ 16 KiB + caps'),
      others: { child_process: size(theirs.memory) },
    }),
    ratioRow({
      id: 'P9',
      what: 'all of them to their end',
      figure: milliseconds(overallMedian(samples('forkline'))),
      to: `floor ${milliseconds(overallMedian(samples(FLOOR)))}`,
      value: toFloor('forkline'),
      target: atMost(1.1),
      launchRatio: ratio(samples('forkline'), samples(LAUNCH_FLOOR)),
      others: {
        [LAUNCH_FLOOR]: times(toFloor(LAUNCH_FLOOR)),
        child_process: times(toFloor('child_process')),
      },
    }),
  ];
}
