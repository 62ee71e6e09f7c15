// Runs the texts of bash's own tests by `bash -c`, by `run()` and by a persistent shell of `session`, and
// compares exit codes and output: `npm run test:bash -- [NAME…]` (build first). The allowed differences,
// with reasons, are in bash-texts/differences.json. A listed text that does not differ is a failure too.
// A text for which `bash -c` itself gives two results, or does not end in time, is not judged. Prints a
// line for each text. Without a network and a cached copy, all are skipped.

import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { endThose } from './bash-texts/left.mjs';
import { bashSource } from './bash-texts/source.mjs';
import { byBash, byRun, byShell, OVERTIME } from './bash-texts/ways.mjs';
import { root } from './vitest.mjs';

/** @typedef {import('./bash-texts/ways.mjs').Came} Came */
/** @typedef {{ because: string, run?: string[], shell?: string[], unjudged?: string[] }} Difference */

/** @type {readonly Difference[]} */
const listed = JSON.parse(readFileSync(join(root, 'scripts/bash-texts/differences.json'), 'utf8'));

/**
 * Removes parts that must differ: process ids and times, the names of places in messages with line
 * numbers (docs/session.md), and the depth of a trace.
 * @param {Came} came
 */
function comparable({ stdout, stderr, code }) {
  const plain = (/** @type {string} */ text) =>
    text
      .replaceAll(/^(?:bash|environment): (?:(?:-c|eval): )?/gm, 'bash: ')
      .replaceAll(/^\++/gm, '+')
      .replaceAll(/\d{3,}/g, 'NUMBER')
      .replaceAll(/\b\d+m?\d*\.\d+s?\b/g, 'TIME');
  return JSON.stringify([plain(stdout), plain(stderr), code]);
}

const source = await bashSource();
const asked = process.argv.slice(2);
const began = performance.now();
const tally = { same: 0, listed: 0, unjudged: 0, failed: 0 };

/**
 * Lists the texts of `tests`, and of `misc` in it. The `run-…` are left out: they make bash read these
 * texts as files, and compare the output with that of its authors.
 * @param {string} tests
 */
function texts(tests) {
  const inTests = readdirSync(tests).filter((name) => /\.(?:tests|sub|sh)$/.test(name));
  const misc = readdirSync(join(tests, 'misc')).filter((name) => /\.(?:tests|sh|\d)$/.test(name));
  const all = [...inTests, ...misc.map((name) => join('misc', name))];
  return asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;
}

/** Copies keep their times, by which a changed one is found. */
const COPY = { recursive: true, preserveTimestamps: true };

/** Lists names, sizes and times of a directory's contents. @param {string} folder */
function listing(folder) {
  const lines = readdirSync(folder, { recursive: true }).map((name) => {
    const { size, mtime, mode } = lstatSync(join(folder, String(name)));
    return [name, size, mode, mtime.toISOString()].join(' ');
  });
  return lines.sort().join('\n');
}

/**
 * @param {string} name
 * @param {string} folder The worker's folder.
 * @param {string} tests
 * @param {string} pristine The listing of an unchanged copy.
 */
async function judge(name, folder, tests, pristine) {
  const text = readFileSync(join(tests, name), 'latin1');
  const decoded = Buffer.from(text, 'latin1').toString();
  // A command's text is UTF-8, as JSON is.
  if (Buffer.from(decoded).toString('latin1') !== text) return 'is not UTF-8';
  if (text.includes('\0')) return 'has a NUL';
  const unjudged = listed.find((one) => one.unjudged?.includes(name));
  if (unjudged !== undefined) return unjudged.because;
  /** @param {(text: string, place: { cwd: string, env: Record<string, string> }) => Promise<Came>} way */
  const come = async (way) => {
    const [cwd, temporary] = [join(folder, 'tests'), join(folder, 'tmp')];
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary);
    // Some texts write into their directory, and one way's files must not be there for the next way.
    if (listing(cwd) !== pristine) {
      rmSync(cwd, { recursive: true, force: true });
      cpSync(tests, cwd, COPY);
    }
    const PATH = `${cwd}:/usr/local/bin:/usr/bin:/bin`;
    const env = {
      PATH,
      HOME: temporary,
      TMPDIR: temporary,
      THIS_SH: '/bin/bash',
      LC_ALL: 'C.UTF-8',
    };
    try {
      return await way(decoded, { cwd, env: { ...env, BUILD_DIR: folder } });
    } finally {
      endThose(folder);
    }
  };
  const first = await come(byBash);
  if (first.code === OVERTIME) return 'does not end by itself';
  const [expected, run, shell] = [first, await come(byRun), await come(byShell)].map(comparable);
  if (run === expected && shell === expected) return { run: true, shell: true };
  if (comparable(await come(byBash)) !== expected)
    return '`bash -c` itself gives one thing and another';
  if (asked.length > 0) console.log(JSON.stringify({ name, expected, run, shell }, null, 2));
  return { run: run === expected, shell: shell === expected };
}

/** @param {string} name @param {Awaited<ReturnType<typeof judge>>} came */
function count(name, came) {
  if (typeof came === 'string') {
    tally.unjudged += 1;
    console.log(`${name}: not judged: ${came}`);
    return;
  }
  const may = {
    run: listed.some(({ run }) => run?.includes(name)),
    shell: listed.some(({ shell }) => shell?.includes(name)),
  };
  for (const way of /** @type {const} */ (['run', 'shell'])) {
    const isRight = came[way] !== may[way];
    tally[!isRight ? 'failed' : came[way] ? 'same' : 'listed'] += 1;
    const [told, where] = [came[way] ? 'same' : 'differs', may[way] ? 'listed' : 'unlisted'];
    console.log(`${name}: ${way}: ${told}${isRight && came[way] ? '' : ` (${where})`}`);
  }
}

if (source === undefined) {
  console.log("skipped: bash's own tests, which cannot be fetched; 0 passed, 0 failed");
} else {
  const tests = join(source, 'tests');
  const names = texts(tests);
  const home = mkdtempSync(join(tmpdir(), 'forkline-bash-texts-'));
  const work = async (/** @type {unknown} */ _, /** @type {number} */ worker) => {
    const folder = join(home, String(worker));
    cpSync(tests, join(folder, 'tests'), COPY);
    const pristine = listing(join(folder, 'tests'));
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      count(name, await judge(name, folder, tests, pristine));
    }
  };
  try {
    // Most of a text's time is spent in `sleep`.
    await Promise.all(Array.from({ length: 2 * availableParallelism() }, work));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`${tally.listed} differ as listed, ${tally.unjudged} texts not judged; ${seconds} s`);
  console.log(`${tally.same} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
