// P4: one command from a process that holds much memory. A fork copies its page tables.
/** @import { Peer, Rounds, Suite } from '../lib/types.d.ts' */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { FLOOR, floorEchoes } from '../lib/floor-tasks.mjs';
import { NotMeasured } from '../lib/not-measured.mjs';
import { availableBytes, residentBytes } from '../lib/proc.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, ratioRow, report, times } from '../lib/rows.mjs';
import { median, medians, overallMedian, ratio } from '../lib/statistics.mjs';
import { echo, echoTask } from '../lib/tasks.mjs';
import { childProcess, execa, forkline, present } from '../peers/index.mjs';

const GIB = 2 ** 30;
const NS_PER_MS = 1e6;
const peers = present([childProcess, execa]);
const all = [forkline, ...peers];

/** The memory that the process holds in each measurement, in GiB. */
const HELD = [0, 1, 2, 4];

/**
 * Allocates buffers, and writes to every page of them.
 * @param {number} gibibytes
 */
const touched = (gibibytes) =>
  Array.from({ length: gibibytes }, () => Buffer.allocUnsafeSlow(GIB).fill(1));

/** Returns freed buffers to the kernel, and checks it, since the next round depends on it. */
async function release() {
  if (!globalThis.gc) throw new Error('needs node --expose-gc');
  for (let attempt = 0; attempt < 10 && residentBytes() > GIB; attempt++) {
    globalThis.gc();
    await sleep(50);
  }
  if (residentBytes() > GIB) throw new Error('the touched memory was not released');
}

/**
 * The longest block of the main thread, in milliseconds, while one command ran.
 * @param {Peer} peer
 */
async function longestBlock(peer) {
  const resolution = 1;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  await sleep(5); // the monitor measures from its first tick on
  await echo(peer);
  await sleep(2); // for the delayed tick
  delay.disable();
  return Math.max(0, delay.max / NS_PER_MS - resolution);
}

/** @param {number} count */
async function blocks(count) {
  /** @type {Map<string, number[]>} */
  const longest = new Map();
  for (const peer of all) {
    const found = [];
    for (let index = 0; index < count; index++) found.push(await longestBlock(peer));
    longest.set(peer.name, found);
  }
  return longest;
}

/** @typedef {(name: string) => Rounds} Samples */

/**
 * @param {number} iterations
 * @returns {Promise<Samples>}
 */
const echoes = (iterations) =>
  interleave([...floorEchoes, ...all.map(echoTask)], { rounds: 1, iterations });

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const gibibytes = Math.min(quick ? 1 : 4, Math.floor(availableBytes() / GIB / 2));
    if (gibibytes < 1) throw new NotMeasured('less than 2 GiB of memory is available');
    await warmUp(all.map(echoTask));
    const small = [];
    const large = [];
    /** @type {Map<number, Map<string, number[]>[]>} */
    const blocked = new Map();
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      small.push(await echoes(15));
      const held = [];
      for (const size of HELD.filter((each) => each < gibibytes).concat(gibibytes)) {
        held.push(...touched(size - held.length));
        blocked.set(size, [...(blocked.get(size) ?? []), await blocks(5)]);
      }
      large.push(await echoes(5));
      held.length = 0;
      await release();
    }
    return summary(`${gibibytes} GiB touched`, small, large, longestOf(blocked));
  },
};

/**
 * The longest block of each round, by held memory and by peer.
 * @param {ReadonlyMap<number, Map<string, number[]>[]>} blocked
 */
const longestOf = (blocked) =>
  [...blocked].map(([gibibytes, rounds]) => ({
    gibibytes,
    /** @param {string} name */
    of: (name) => rounds.map((round) => Math.max(...(round.get(name) ?? []))),
  }));

/**
 * @param {string} held
 * @param {Samples[]} small
 * @param {Samples[]} large
 * @param {ReturnType<typeof longestOf>} longest
 */
function summary(held, small, large, longest) {
  /** @param {Samples[]} rounds @param {string} name */
  const of = (rounds, name) => rounds.flatMap((samples) => samples(name));
  /** @param {string} name */
  const growth = (name) => ratio(of(large, name), of(small, name));
  // The median of the rounds' longest blocks: a single stall of the machine must not count.
  /** @param {string} name */
  const block = (name) => median(longest.at(-1)?.of(name) ?? []);
  const rows = [
    ratioRow({
      id: 'P4',
      what: `run('echo hi'), ${held}`,
      figure: milliseconds(overallMedian(of(large, forkline.name))),
      to: `none touched ${milliseconds(overallMedian(of(small, forkline.name)))}`,
      value: growth(forkline.name),
      target: atMost(1.1),
      others: Object.fromEntries(
        [FLOOR, ...peers.map(({ name }) => name)].map((name) => [name, times(growth(name))]),
      ),
    }),
    figureRow({
      id: 'P4',
      what: `longest main-thread block, ${held}`,
      figure: milliseconds(block(forkline.name)),
      value: block(forkline.name),
      target: { text: '< 1 ms', holds: (value) => value < 1 },
      others: Object.fromEntries(peers.map(({ name }) => [name, milliseconds(block(name))])),
    }),
  ];
  const names = [FLOOR, ...all.map(({ name }) => name)];
  const smallMedians = report([], (name) => of(small, name), names).medians;
  return {
    rows,
    medians: {
      ...Object.fromEntries(names.map((name) => [`${name}, small`, smallMedians[name] ?? []])),
      ...Object.fromEntries(names.map((name) => [`${name}, large`, medians(of(large, name))])),
      ...Object.fromEntries(
        longest.flatMap((at) =>
          all.map(({ name }) => [`${name}, blocked with ${at.gibibytes} GiB`, at.of(name)]),
        ),
      ),
    },
  };
}
