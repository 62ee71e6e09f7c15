// A long life in minutes: `npm run soak -- [--count N] [--tools N]`. Runs commands of every kind through
// run(), spawn() and all contracts, creates and disposes of tools, and prints the resources of the
// process before and after. It fails when descriptors, threads, processes or files are left.
/** @import { Held } from './lib/soak/held.mjs' */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { size } from './lib/rows.mjs';
import { held } from './lib/soak/held.mjs';

const IN_FLIGHT = 48;
const REPORT_EVERY_MS = 10_000;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    tools: { type: 'string', default: '20000' },
  },
});
const [count, tools] = [Number(values.count), Number(values.tools)];

// All files are written here, and looked for here.
const folder = mkdtempSync(join(tmpdir(), 'forkline-soak-'));
process.env.TMPDIR = folder;
// Imported after TMPDIR is set, since some modules read it at once.
const { disposeKinds, kinds, makeTool } = await import('./lib/soak/kinds.mjs');

/**
 * Calls `work` `times` times, with a limit of calls at once.
 * @param {number} times
 * @param {(index: number) => Promise<unknown>} work
 * @param {string} [name] for progress lines
 */
async function many(times, work, name) {
  let next = 0;
  let said = performance.now();
  const lane = async () => {
    while (next < times) {
      await work(next++);
      if (name === undefined || performance.now() - said < REPORT_EVERY_MS) continue;
      said = performance.now();
      console.error(`${next} of ${times} ${name}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

/** @param {number} index */
const command = (index) => kinds[index % kinds.length]?.(index) ?? Promise.resolve();

/** @typedef {[what: string, before: Held, after: Held]} Stretch */

/** @param {readonly Stretch[]} stretches */
function table(stretches) {
  /** @type {[keyof Held, (value: number) => string][]} */
  const figures = [
    ['descriptors', String],
    ['threads', String],
    ['children', String],
    ['zombies', String],
    ['files', String],
    ['heapBytes', size],
    ['residentBytes', size],
  ];
  for (const [what, before, after] of stretches) {
    console.log(`\n${what}`);
    for (const [name, show] of figures) {
      console.log(
        `  ${name.padEnd(14)} ${show(before[name]).padStart(10)} ${show(after[name]).padStart(10)}`,
      );
    }
  }
}

/** @param {readonly Stretch[]} stretches */
const leftovers = (stretches) =>
  stretches.flatMap(([what, before, after]) =>
    /** @type {const} */ (['descriptors', 'threads', 'children', 'zombies', 'files'])
      .filter((name) => after[name] > before[name])
      .map((name) => `${what}: ${after[name] - before[name]} more ${name}`),
  );

const start = performance.now();
// The first thousands fill pools, and V8's compiled code for them stays.
await many(Math.min(5000, count), command, 'commands to warm up');
await many(Math.min(2000, tools), makeTool);
const [first, commandsStart] = [await held(folder), performance.now()];
await many(count, command, 'commands');
const seconds = (performance.now() - commandsStart) / 1000;
const second = await held(folder);
await many(tools, makeTool, 'tools');
const third = await held(folder);
await disposeKinds();
const last = await held(folder);

/** @type {Stretch[]} */
const stretches = [
  [`${count} commands, ${(count / seconds).toFixed(0)} a second`, first, second],
  [`${tools} tools made and disposed of`, second, third],
  ['all is disposed of', third, last],
];
table(stretches);
const left = [
  ...leftovers(stretches),
  ...(last.files > 0 ? [`${last.files} files at the end`] : []),
];
console.log(
  `\n${((performance.now() - start) / 60_000).toFixed(1)} minutes. ${left.join('; ') || 'Nothing is left.'}`,
);
rmSync(folder, { recursive: true, force: true });
process.exitCode = left.length === 0 ? 0 : 1;
