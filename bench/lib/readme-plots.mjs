// The two plots of the README: the time of a command relative to the floor, and how long a command blocks
// the main thread, by the memory that its process holds.
/** @import { SuiteResult } from './types.d.ts' */
import { box, label, picture, stroke } from '../../scripts/pictures/svg.mjs';
import { median, ratio } from './statistics.mjs';

const WIDTH = 860;
const HEIGHT = 300;
const PEERS = ['forkline', 'child_process', 'execa'];

const STYLE = `
  .bar { fill: #afb8c1; }
  .own { fill: #0969da; }
  .forkline { stroke: #0969da; fill: none; stroke-width: 2.5; }
  .child_process { stroke: #9a6700; fill: none; stroke-width: 2; }
  .execa { stroke: #8250df; fill: none; stroke-width: 2; stroke-dasharray: 6 4; }
  @media (prefers-color-scheme: dark) {
    .bar { fill: #4b535d; }
    .own { fill: #4493f8; }
    .forkline { stroke: #4493f8; }
    .child_process { stroke: #d29922; }
    .execa { stroke: #ab7df8; }
  }`;

/** @param {readonly SuiteResult[]} results @param {string} suite */
const mediansOf = (results, suite) =>
  results.find(({ name }) => name === suite)?.report?.medians ?? {};

/**
 * Draws bars relative to the floor, which is 1.
 * @param {Record<string, readonly number[]>} medians of `p1`
 */
function timePlot(medians) {
  const measured = ['floor', ...PEERS].filter((name) => medians[name] !== undefined);
  const bars = measured.map((name) => ({
    name,
    value: ratio(
      (medians[name] ?? []).map((time) => [time]),
      (medians.floor ?? []).map((time) => [time]),
    ),
  }));
  const most = Math.max(...bars.map(({ value }) => value));
  return [
    label(24, 34, 'Time of a command', 'strong'),
    label(24, 54, "bash -c 'echo hi', to the least this kernel allows", 'small muted'),
    ...bars.flatMap(({ name, value }, index) => {
      const y = 84 + index * 44;
      const width = Number(((value / most) * 220).toFixed(1));
      return [
        label(118, y + 17, name, 'small end'),
        box(126, y, width, 24, name === 'forkline' ? 'own' : 'bar'),
        label(126 + width + 8, y + 17, `${value.toFixed(2)} ×`, 'small'),
      ];
    }),
  ];
}

/**
 * The longest block of each peer, by held memory.
 * @param {Record<string, readonly number[]>} medians of `p4`
 */
function blocksOf(medians) {
  const all = PEERS.map((name) => ({
    name,
    points: Object.entries(medians).flatMap(([key, values]) => {
      const [, size] = new RegExp(`^${name}, blocked with (\\d+) GiB$`).exec(key) ?? [];
      return size === undefined ? [] : [{ size: Number(size), value: median(values) }];
    }),
  }));
  // A peer that was not installed has no line.
  return all.filter(({ points }) => points.length > 0);
}

const AREA = { left: 500, right: 728, top: 84, bottom: 244 };

/** @param {Record<string, readonly number[]>} medians of `p4` */
function blockPlot(medians) {
  const lines = blocksOf(medians);
  const points = lines.flatMap((line) => line.points);
  const widest = Math.max(...points.map(({ size }) => size));
  const highest = Math.max(...points.map(({ value }) => value));
  /** @param {number} size */
  const x = (size) => AREA.left + (size / widest) * (AREA.right - AREA.left);
  /** @param {number} value */
  const y = (value) =>
    Number((AREA.bottom - (value / highest) * (AREA.bottom - AREA.top)).toFixed(1));
  const sizes = [...new Set(points.map(({ size }) => size))];
  const ticks = [0, highest / 2, highest];
  // Labels that would overlap are moved down, in the order of their lines.
  const ends = lines
    .map(({ name, points: all }) => ({ name, value: all.at(-1)?.value ?? 0 }))
    .sort((one, other) => other.value - one.value);
  let lowest = Number.NEGATIVE_INFINITY;
  return [
    label(450, 34, 'The main thread is blocked', 'strong'),
    label(450, 54, 'milliseconds at the longest, by the memory of its process', 'small muted'),
    ...ticks.flatMap((tick) => [
      stroke(`M${AREA.left} ${y(tick)}H${AREA.right}`, 'faint'),
      label(AREA.left - 8, y(tick) + 4, tick.toFixed(0), 'small muted end'),
    ]),
    ...sizes.map((size) => label(x(size), AREA.bottom + 20, `${size} GiB`, 'small muted middle')),
    ...lines.map(({ name, points: all }) =>
      stroke(
        all.map(({ size, value }, at) => `${at ? 'L' : 'M'}${x(size)} ${y(value)}`).join(''),
        name,
      ),
    ),
    ...ends.map(({ name, value }) => {
      lowest = Math.max(y(value) + 4, lowest + 16);
      return label(AREA.right + 8, lowest, name, 'small');
    }),
  ];
}

/**
 * @param {readonly SuiteResult[]} results
 * @param {string} caption
 * @returns {string | undefined} undefined: `p1` or `p4` was not run
 */
export function readmePlots(results, caption) {
  const [time, block] = [mediansOf(results, 'p1'), mediansOf(results, 'p4')];
  if (time.floor === undefined || Object.keys(block).length === 0) return undefined;
  const title = 'The time of a command to the floor, and how long it blocks the main thread';
  return picture({ title, width: WIDTH, height: HEIGHT, style: STYLE }, [
    ...timePlot(time),
    ...blockPlot(block),
    label(24, HEIGHT - 14, caption, 'small muted'),
  ]);
}
