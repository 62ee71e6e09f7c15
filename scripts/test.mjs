// Runs everything: builds, then the Rust tests, then the TypeScript tests, all of their output
// passed on as it comes. The last line sums them up: `N passed, N failed`.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { root, runTests, tell } from './vitest.mjs';

/** @typedef {{ passed: number, failed: number }} Tally */

/**
 * Runs a program, passing its output on, and returns its exit status and what it wrote to stdout.
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<{ ok: boolean, stdout: string }>}
 */
function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on('data', (chunk) => {
      chunks.push(chunk);
      process.stdout.write(chunk);
    });
    child.on('error', (error) => {
      console.error(error.message);
      resolve({ ok: false, stdout: '' });
    });
    child.on('close', (code) => {
      resolve({ ok: code === 0, stdout: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

/**
 * A run that failed without a failed test (it did not compile, a test binary crashed) counts as one.
 * @param {boolean} ok
 * @param {Tally} tally
 * @returns {Tally}
 */
const admit = (ok, { passed, failed }) => ({ passed, failed: ok ? failed : Math.max(failed, 1) });

async function rust() {
  const { ok, stdout } = await run('cargo', ['test', '--locked', '--workspace', '--no-fail-fast']);
  const tally = { passed: 0, failed: 0 };
  for (const [, passed, failed] of stdout.matchAll(
    /^test result: \w+\. (\d+) passed; (\d+) failed;/gm,
  )) {
    tally.passed += Number(passed);
    tally.failed += Number(failed);
  }
  for (const [, name] of stdout.matchAll(/^test (.+) \.\.\. FAILED$/gm)) {
    console.log(`failed: cargo test ${name}`);
  }
  return admit(ok, tally);
}

/** What is in the temporary directory under a name of ours. */
const kept = () => readdirSync(tmpdir()).filter((name) => name.startsWith('forkline-'));

/**
 * Three files at a time, since tests wait half of their time: they tell their own processes from those of
 * others, and what fails beside another one is run again by itself. A folder that they leave counts as
 * a failure.
 * @returns {Promise<Tally>}
 */
async function typescript() {
  const before = new Set(kept());
  const result = await runTests([], { parallel: ['--fileParallelism', '--maxWorkers=3'] });
  tell(result);
  const left = kept().filter((name) => !before.has(name));
  // A test that fails may leave what it would have removed, and has been told of already.
  const isWrong = left.length > 0 && result.passedAgain.length + result.failed.length === 0;
  if (isWrong) console.log(`failed: left in ${tmpdir()}: ${left.join(', ')}`);
  return {
    passed: result.tests.filter(({ passed }) => passed).length,
    failed: result.failed.length + (isWrong ? 1 : 0),
  };
}

const { ok: built } = await run('npm', ['run', '--silent', 'build']);
// Without it, where Rust has no target for it, its tests are left out.
await run('npm', ['run', '--silent', 'build:far', '--', '--quick']);
const tallies = built ? [await rust(), await typescript()] : [{ passed: 0, failed: 1 }];
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
