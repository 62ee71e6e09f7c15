// The plots of docs/benchmarks.md, drawn from the results of a run. Readable on light and dark pages.
/** @import { SuiteResult } from './types.d.ts' */
import { median } from './statistics.mjs';

/**
 * @typedef {object} Bar
 * @property {string} name
 * @property {number} value
 */

/**
 * @typedef {object} Plot
 * @property {string} title
 * @property {string} note which direction is better
 * @property {(value: number) => string} show
 * @property {'linear' | 'logarithmic'} scale
 * @property {Bar[]} bars
 */

const WIDTH = 720;
const LEFT = 130;
const RIGHT = 90;
const BAR = 16;
const STEP = 24;
const HEAD = 46;
const GAP = 26;
const ROOM = WIDTH - LEFT - RIGHT;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .note { fill: #656d76; }
  .name { text-anchor: end; }
  rect { fill: #b8c0c8; }
  rect.own { fill: #1f6feb; }
  rect.floor { fill: #8c959f; }
  line { stroke: #d0d7de; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    rect { fill: #4b535d; }
    rect.own { fill: #4493f8; }
    rect.floor { fill: #7d8590; }
    line { stroke: #3d444d; }
  }`;

/** @param {number} value */
const inMilliseconds = (value) => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;

const PEERS = ['floor', 'forkline', 'child_process', 'tinyexec', 'nano-spawn', 'execa'];

/**
 * Medians of the tasks of a suite that was run.
 * @param {readonly SuiteResult[]} results
 * @param {string} suite
 * @param {(name: string) => string} key of a name among the suite's tasks
 * @param {(milliseconds: number) => number} figure
 * @returns {Bar[]}
 */
function barsOf(results, suite, key, figure) {
  const found = results.find(({ name }) => name === suite)?.report?.medians ?? {};
  return PEERS.flatMap((name) => {
    const values = found[key(name)];
    return values === undefined ? [] : [{ name, value: figure(median(values)) }];
  });
}

/**
 * The memory that `p4` could have on the machine.
 * @param {readonly SuiteResult[]} results
 */
function heldIn(results) {
  const [row] = results.find(({ name }) => name === 'p4')?.report?.rows ?? [];
  return /(\d+ GiB) touched/.exec(row?.what ?? '')?.[1] ?? 'much memory';
}

/**
 * @param {readonly SuiteResult[]} results
 * @param {number} batch the number of commands in each round of `p2`
 * @returns {Plot[]}
 */
function plotsOf(results, batch) {
  /** @type {Plot[]} */
  const all = [
    {
      title: "One command after another: bash -c 'echo hi'",
      note: 'time of one; less is better',
      show: inMilliseconds,
      scale: 'linear',
      bars: barsOf(
        results,
        'p1',
        (name) => name,
        (time) => time,
      ),
    },
    {
      title: '64 in flight',
      note: 'commands a second; more is better',
      show: (value) => value.toFixed(0),
      scale: 'linear',
      bars: barsOf(
        results,
        'p2',
        (name) => name,
        (time) => (batch / time) * 1000,
      ),
    },
    {
      title: `From a process that holds ${heldIn(results)}`,
      note: 'time of one, logarithmic; less is better',
      show: inMilliseconds,
      scale: 'logarithmic',
      bars: barsOf(
        results,
        'p4',
        (name) => `${name}, large`,
        (time) => time,
      ),
    },
  ];
  return all.filter(({ bars }) => bars.length > 0);
}

/**
 * @param {Plot} plot
 * @param {number} top
 */
function draw({ title, note, show, scale, bars }, top) {
  const most = Math.max(...bars.map(({ value }) => value));
  /**
   * @param {number} value returns its part of the width; a logarithmic scale begins at half of the least
   * value
   */
  const part = (value) => {
    if (scale === 'linear') return value / most;
    const least = Math.min(...bars.map((bar) => bar.value)) / 2;
    return Math.log(value / least) / Math.log(most / least);
  };
  const lines = bars.map(({ name, value }, index) => {
    const y = top + HEAD + index * STEP;
    const width = (part(value) * ROOM).toFixed(1);
    const kind = name === 'forkline' ? ' class="own"' : name === 'floor' ? ' class="floor"' : '';
    return [
      `<text class="name" x="${LEFT - 10}" y="${y + 13}">${name}</text>`,
      `<rect${kind} x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
      `<text x="${(LEFT + part(value) * ROOM + 8).toFixed(1)}" y="${y + 13}">${show(value)}</text>`,
    ].join('\n');
  });
  const bottom = top + HEAD + bars.length * STEP - (STEP - BAR) + 4;
  return [
    `<text class="title" x="0" y="${top + 16}">${title}</text>`,
    `<text class="note" x="0" y="${top + 34}">${note}</text>`,
    `<line x1="${LEFT}" y1="${top + HEAD - 4}" x2="${LEFT}" y2="${bottom}"/>`,
    ...lines,
  ].join('\n');
}

/**
 * @param {readonly SuiteResult[]} results
 * @param {{ batch: number, caption: string }} run
 * @returns {string | undefined} undefined: none of the plotted suites was run
 */
export function svg(results, { batch, caption }) {
  const plots = plotsOf(results, batch);
  if (plots.length === 0) return undefined;
  let top = 0;
  const drawn = plots.map((plot) => {
    const at = top;
    top += HEAD + plot.bars.length * STEP + GAP;
    return draw(plot, at);
  });
  const height = top + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>forkline, its floor and its peers</title>`,
    `<style>${STYLE}\n</style>`,
    ...drawn,
    `<text class="note" x="0" y="${height - 6}">${caption}</text>`,
    '</svg>',
    '',
  ].join('\n');
}
