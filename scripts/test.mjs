// Runs everything: builds, then the Rust tests, then the TypeScript tests, all of their output
// passed on as it comes. The last line sums them up: `N passed, N failed`.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

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
  return admit(ok, tally);
}

async function typescript() {
  const directory = mkdtempSync(join(tmpdir(), 'forkline-test-'));
  const report = join(directory, 'vitest.json');
  try {
    const { ok } = await run(join(root, 'node_modules', '.bin', 'vitest'), [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ]);
    return admit(ok, vitestTally(report));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * @param {string} path
 * @returns {Tally}
 */
function vitestTally(path) {
  /** @type {string} */
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return { passed: 0, failed: 1 }; // It died before it could report.
  }
  /** @type {{ numPassedTests: number, numFailedTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
  const report = JSON.parse(text);
  // A file that could not be loaded has failed, and has no failed test to show for it.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

const { ok: built } = await run('npm', ['run', '--silent', 'build']);
const tallies = built ? [await rust(), await typescript()] : [{ passed: 0, failed: 1 }];
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
