// Builds what is stale, runs the Rust tests, then the TypeScript tests, with their output passed on as it
// comes, in surroundings of its own (`suite/surroundings.mjs`). The last lines count the skipped tests, by
// reason, and sum up: `N passed, N failed`.
//
//     node scripts/test.mjs              all but the slow ones
//     node scripts/test.mjs PATH...      the TypeScript tests there, slow ones too
//     node scripts/test.mjs --slow       the slow ones alone
//     node scripts/test.mjs --all        all, and the suites that have a script of their own

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildWhatIsStale } from './suite/builds.mjs';
import { runRust } from './suite/rust.mjs';
import { makeSurroundings } from './suite/surroundings.mjs';
import { root, running, runTests, tell, tellSkipped } from './vitest.mjs';

/** @typedef {{ passed: number, failed: number }} Tally */
/** @typedef {{ ok: boolean, stdout: string }} Ended */

const { values, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { slow: { type: 'boolean' }, all: { type: 'boolean' } },
});

/** The suites that `--all` runs in addition. */
const SUITES = ['test:python', 'test:portable', 'test:bash', 'test:runtimes', 'test:environments'];

const surroundings = makeSurroundings(root);
/** Why tests outside of vitest were not run. @type {string[]} */
const notRun = [];
/** What is told of the Rust tests, beside what is told of the others. @type {string[]} */
const endLines = [];

/**
 * Runs a program, passing its output on, and returns how it ended and what it wrote to stdout.
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<Ended>}
 */
function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(child);
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on('data', (chunk) => {
      chunks.push(chunk);
      process.stdout.write(chunk);
    });
    child.on('error', ({ message }) => {
      running.delete(child);
      console.error(message);
      resolve({ ok: false, stdout: '' });
    });
    child.on('close', (code) => {
      running.delete(child);
      const stdout = Buffer.concat(chunks).toString('utf8');
      resolve({ ok: code === 0, stdout });
    });
  });
}

/**
 * Runs an npm script.
 * @param {string} script
 * @param {readonly string[]} args
 */
const npm = (script, ...args) => run('npm', ['run', '--silent', script, ...args]);

/**
 * Counts a run that failed without a failed test (it did not compile, a test binary crashed) as one
 * failure.
 * @param {boolean} ok
 * @param {Tally} tally
 * @returns {Tally}
 */
const admit = (ok, { passed, failed }) => ({ passed, failed: ok ? failed : Math.max(failed, 1) });

/** @returns {Promise<Tally>} */
async function rust() {
  const result = await runRust(root, running);
  if (result === undefined) {
    notRun.push('all in Rust: cargo is not installed');
    return { passed: 0, failed: 0 };
  }
  for (let count = result.ignored; count > 0; count -= 1) notRun.push('ignored in Rust');
  endLines.push(...result.passedAgain.map((test) => `passed only when run again: ${test}`));
  endLines.push(...result.failed.map((test) => `failed: ${test}`));
  return { passed: result.passed, failed: result.failed.length };
}

/** The most files at a time: tests wait for more than half of their time. */
const MOST_AT_ONCE = Math.min(16, 2 * availableParallelism() + 1);

/**
 * Runs several files at a time: they distinguish their own processes from others, and a file that fails is run again
 * by itself.
 * @param {readonly string[]} flags
 */
async function typescript(flags) {
  const parallel = ['--fileParallelism', `--maxWorkers=${MOST_AT_ONCE}`];
  const files = values.slow && paths.length === 0 ? withSlowOnes() : paths;
  const result = await runTests(files, { flags, parallel });
  tell(result);
  for (const line of endLines) console.log(line);
  return result;
}

/**
 * Lists the files that have slow tests: in a file whose tests are all left out, the processes started for
 * them would not be ended.
 */
function withSlowOnes() {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const files = all.filter((name) => name.endsWith('.test.ts')).map((name) => join('test', name));
  const isSlow = /@module-tag slow|'slow'\]|describeForAll/;
  return files.filter((file) => isSlow.test(readFileSync(join(root, file), 'utf8')));
}

/**
 * @param {string} script
 * @returns {Promise<Tally>}
 */
async function suite(script) {
  const { ok, stdout } = await npm(script);
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(lastLine(stdout)) ?? [];
  if (!ok) console.log(`failed: npm run ${script}`);
  // A suite without a sum of its own counts as one test.
  return admit(ok, { passed: Number(passed ?? (ok ? 1 : 0)), failed: Number(failed ?? 0) });
}

/** @param {string} text */
const lastLine = (text) => text.trimEnd().split('\n').at(-1) ?? '';

/** @returns {Promise<Tally>} */
async function everything() {
  const isBuilt = await buildWhatIsStale(root, async (script) => {
    const quick = script === 'build:far' ? ['--', '--quick'] : [];
    return (await npm(script, ...quick)).ok;
  });
  if (!isBuilt) {
    console.log('failed: the build');
    return { passed: 0, failed: 1 };
  }
  const isPart = paths.length > 0 || values.slow === true;
  const tallies = isPart ? [] : [await rust()];
  const filter = values.slow ? ['--tags-filter=slow'] : ['--tags-filter=!slow'];
  const { tests, failed } = await typescript(paths.length > 0 || values.all ? [] : filter);
  tallies.push({ passed: tests.filter(({ passed }) => passed).length, failed: failed.length });
  if (values.all) {
    for (const script of SUITES) tallies.push(await suite(script));
  }
  const left = await surroundings.end();
  // A failed test may leave files that it would have removed, and was reported already.
  const isWrong = left.length > 0 && failed.length === 0;
  for (const line of isWrong ? left : []) console.log(`failed: ${line}`);
  tallies.push({ passed: 0, failed: isWrong ? 1 : 0 });
  tellSkipped(values.slow ? tests.filter(({ slow }) => slow) : tests, notRun);
  return {
    passed: tallies.reduce((sum, tally) => sum + tally.passed, 0),
    failed: tallies.reduce((sum, tally) => sum + tally.failed, 0),
  };
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    void surroundings.end().finally(() => process.kill(process.pid, signal));
  });
}
try {
  const { passed, failed } = await everything();
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await surroundings.end();
}
