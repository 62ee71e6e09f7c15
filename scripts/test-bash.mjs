// Runs the texts of bash's own tests by `bash -c`, by `run()` and by a persistent shell of `session`, and
// compares exit codes and output: `npm run test:bash -- [NAME…]` (build first). Which may differ, and why,
// is in bash-texts/differences.json. One that is listed and does not differ is a failure too. What `bash -c`
// itself gives in two ways is not judged. Without a network, and nothing kept, all are skipped.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bashSource } from './bash-texts/source.mjs';
import { byBash, byRun, byShell } from './bash-texts/ways.mjs';
import { root } from './vitest.mjs';

/** @typedef {import('./bash-texts/ways.mjs').Came} Came */
/** @typedef {{ because: string, run?: string[], shell?: string[] }} Difference */

/** @type {readonly Difference[]} */
const listed = JSON.parse(readFileSync(join(root, 'scripts/bash-texts/differences.json'), 'utf8'));

/**
 * Without what must differ: process ids and times, what messages call the place in which a line is
 * counted (docs/session.md), and how deep a trace says that it is.
 * @param {Came} came
 */
function comparable({ stdout, stderr, code }) {
  const plain = (/** @type {string} */ text) =>
    text
      .replaceAll(/^(?:bash|environment): (?:(?:-c|eval): )?line/gm, 'bash: line')
      .replaceAll(/^\++ /gm, '+ ')
      .replaceAll(/\d{3,}/g, 'NUMBER')
      .replaceAll(/\b\d+m?\d*\.\d+s?\b/g, 'TIME');
  return JSON.stringify([plain(stdout), plain(stderr), code]);
}

const source = await bashSource();
const asked = process.argv.slice(2);
const began = performance.now();
const tally = { same: 0, listed: 0, unjudged: 0, failed: 0 };

/**
 * @param {string} name
 * @param {string} folder Of the worker that does it.
 * @param {string} tests
 */
async function judge(name, folder, tests) {
  const text = readFileSync(join(tests, name), 'latin1');
  const decoded = Buffer.from(text, 'latin1').toString();
  // A command's text is UTF-8, as JSON is.
  if (Buffer.from(decoded).toString('latin1') !== text || text.includes('\0')) return 'unjudged';
  /** @param {(text: string, place: { cwd: string, env: Record<string, string> }) => Promise<Came>} way */
  const come = async (way) => {
    const [cwd, temporary] = [join(folder, 'tests'), join(folder, 'tmp')];
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary);
    const PATH = `${cwd}:/usr/local/bin:/usr/bin:/bin`;
    const env = {
      PATH,
      HOME: temporary,
      TMPDIR: temporary,
      THIS_SH: '/bin/bash',
      LC_ALL: 'C.UTF-8',
    };
    return comparable(await way(decoded, { cwd, env: { ...env, BUILD_DIR: folder } }));
  };
  const expected = await come(byBash);
  const [run, shell] = [await come(byRun), await come(byShell)];
  if (run === expected && shell === expected) return { run: true, shell: true };
  const again = await come(byBash);
  if (again !== expected) return 'unjudged';
  if (asked.length > 0) console.log(JSON.stringify({ name, expected, run, shell }, null, 2));
  return { run: run === expected, shell: shell === expected };
}

/** @param {string} name @param {Awaited<ReturnType<typeof judge>>} came */
function count(name, came) {
  if (came === 'unjudged') {
    tally.unjudged += 1;
    return;
  }
  const may = {
    run: listed.some(({ run }) => run?.includes(name)),
    shell: listed.some(({ shell }) => shell?.includes(name)),
  };
  for (const way of /** @type {const} */ (['run', 'shell'])) {
    if (came[way] && !may[way]) tally.same += 1;
    else if (!came[way] && may[way]) tally.listed += 1;
    else {
      tally.failed += 1;
      console.log(`${came[way] ? 'LISTED, and it did not differ' : 'DIFFERS'}: ${way} ${name}`);
    }
  }
}

if (source === undefined) {
  console.log("skipped: bash's own tests, which cannot be fetched; 0 passed, 0 failed");
} else {
  const tests = join(source, 'tests');
  const all = readdirSync(tests).filter((name) => /\.(?:tests|sub)$/.test(name));
  const names = asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;
  const home = mkdtempSync(join(tmpdir(), 'forkline-bash-texts-'));
  const work = async (/** @type {unknown} */ _, /** @type {number} */ worker) => {
    const folder = join(home, String(worker));
    cpSync(tests, join(folder, 'tests'), { recursive: true });
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      count(name, await judge(name, folder, tests));
    }
  };
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, work));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`${tally.listed} differ as listed, ${tally.unjudged} texts not judged; ${seconds} s`);
  console.log(`${tally.same} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
