// Measures forkline against the floor and its peers: `npm run bench -- [suite...] [options]`.
/** @import { Run, Settings, SuiteResult } from './lib/types.d.ts' */
/** @import { OtherRun } from './lib/compare/other-run.mjs' */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { batchOf } from './lib/batch.mjs';
import { buildFloor } from './lib/build-floor.mjs';
import { comparison } from './lib/compare/comparison.mjs';
import { machine, versions } from './lib/machine.mjs';
import { missingPackage } from './lib/not-measured.mjs';
import { readmePlots } from './lib/readme-plots.mjs';
import { runSuite } from './lib/run-suite.mjs';
import { SUITE_NAMES } from './lib/suites.mjs';
import { svg } from './lib/svg.mjs';
import { isDoubtful, table } from './lib/table.mjs';

const HELP = `usage: npm run bench -- [suite...] [--quick] [--json | --compare FILE] [--svg DIR] [--past N]

suites: ${SUITE_NAMES.join(' ')} (all, when none is named)

  --quick     a fifth of the work: shows that it runs, too noisy for a verdict
  --json      the whole result on stdout instead of the table
  --compare FILE  another run's figures beside this one's, and the change: FILE is its
              results/latest.json, or what it printed with --json
  --svg DIR   plots of p1, p2 and p4: benchmarks.svg, as far as they were run, and plots.svg
  --past N    commands run by the suite 'past' (default 20000, quick 2000)
`;

const RESULTS = new URL('results/', import.meta.url);

/**
 * @param {string} reason
 * @returns {never}
 */
function stop(reason) {
  console.error(`bench: ${reason}`);
  process.exit(2);
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        svg: { type: 'string' },
        compare: { type: 'string' },
        past: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return stop(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {readonly string[]} names
 * @param {Settings} settings
 */
async function measure(names, settings) {
  const results = [];
  for (const name of names) {
    process.stderr.write(`${name} ...`);
    const result = await runSuite(name, settings);
    process.stderr.write(` ${result.seconds.toFixed(0)} s\n`);
    results.push(result);
  }
  return results;
}

/** @param {Run} run */
function record(run) {
  const json = `${JSON.stringify(run, null, 2)}\n`;
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('latest.json', RESULTS), json);
  return json;
}

/**
 * @param {string} directory
 * @param {Settings} settings
 * @param {SuiteResult[]} suites
 */
function draw(directory, { quick }, suites) {
  const { cpu, cores, kernel, node } = machine();
  const day = new Date().toISOString().slice(0, 10);
  const made = `${cores} cores of ${cpu}, Linux ${kernel.split('-')[0]}, Node ${node}, ${day}`;
  const caption = suites.some(isDoubtful) ? `${made}; doubtful, others were busy too` : made;
  const drawn = svg(suites, { batch: batchOf(quick), caption });
  if (drawn === undefined) stop('--svg draws p1, p2 and p4, of which none was run');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'benchmarks.svg'), drawn);
  const two = readmePlots(suites, caption);
  if (two !== undefined) writeFileSync(join(directory, 'plots.svg'), two);
}

/** @param {string} file */
async function otherRun(file) {
  try {
    const { readRun } = await import('./lib/compare/other-run.mjs');
    return readRun(file);
  } catch (error) {
    return stop(missingPackage(error) ?? /** @type {Error} */ (error).message);
  }
}

/**
 * @param {Run} run
 * @param {{ file: string, run: OtherRun } | undefined} other
 */
function shown(run, other) {
  if (other === undefined) return table(run.suites);
  const { columns, notes } = comparison(run, other.run, other.file);
  return [table(run.suites, columns), ...notes].join('\n');
}

const { values, positionals } = parse();
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const unknown = positionals.filter((name) => !SUITE_NAMES.includes(name));
if (unknown.length > 0) stop(`no suite is named ${unknown[0]}; there are ${SUITE_NAMES.join(' ')}`);
const past = Number(values.past ?? (values.quick ? 2000 : 20_000));
if (!Number.isInteger(past) || past < 1) stop(`--past takes a whole number, not ${values.past}`);
if (values.json && values.compare !== undefined)
  stop('--compare is about the table, and --json prints none');
const other =
  values.compare === undefined
    ? undefined
    : { file: values.compare, run: await otherRun(values.compare) };

buildFloor();
const settings = { quick: values.quick, past };
const names = positionals.length > 0 ? positionals : SUITE_NAMES;
const results = await measure(names, settings);
/** @type {Run} */
const run = {
  date: new Date().toISOString(),
  machine: machine(),
  versions: versions(),
  settings,
  suites: results,
};
const json = record(run);
if (values.svg !== undefined) draw(values.svg, settings, results);
process.stdout.write(values.json ? json : `\n${shown(run, other)}\n`);
process.exitCode = results.some(({ failure }) => failure !== undefined) ? 1 : 0;
