// Runs tests of the native engine on the portable one: `node scripts/test-portable.mjs`. Which, which
// of them may fail and why, is in test/engine/portable/exceptions.json. One that may fail and passes
// is a failure too, so that the list stays true. The last line sums up: `N passed, N failed`.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @typedef {{ because: string, tests: string[] }} Exception A test is `file > its whole name`. */
/** @type {{ suites: string[], notRun: { because: string, files: string[] }[], mayFail: Exception[] }} */
const list = JSON.parse(readFileSync(join(root, 'test/engine/portable/exceptions.json'), 'utf8'));

/** @typedef {{ name: string, status: string, message: string, assertionResults: { fullName: string, status: string, failureMessages: string[] }[] }} FileReport */

/** @returns {FileReport[]} */
function runSuites() {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-test-'));
  const report = join(folder, 'vitest.json');
  const excluded = list.notRun.flatMap(({ files }) => files.flatMap((file) => ['--exclude', file]));
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  // Tests tell their own processes from those of others: two files at a time save half of the time.
  const two = ['--fileParallelism', '--maxWorkers=2'];
  try {
    spawnSync(
      join(root, 'node_modules/.bin/vitest'),
      ['run', ...reporters, ...two, ...excluded, ...list.suites],
      { cwd: root, stdio: 'ignore', env: { ...process.env, FORKLINE_ENGINE: 'portable' } },
    );
    return JSON.parse(readFileSync(report, 'utf8')).testResults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Each test and how it ended; a file that could not be loaded, or left something behind, counts as one.
 * @param {FileReport} report
 */
function testsOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const tests = assertionResults
    .filter((test) => test.status === 'passed' || test.status === 'failed')
    .map((test) => ({
      title: `${file} > ${test.fullName}`,
      passed: test.status === 'passed',
      why: test.failureMessages.join('\n'),
    }));
  const isBroken = status === 'failed' && tests.every(({ passed }) => passed);
  return isBroken ? [...tests, { title: file, passed: false, why: message }] : tests;
}

const began = performance.now();
const tests = runSuites().flatMap(testsOf);
const excused = new Set(list.mayFail.flatMap((exception) => exception.tests));
const known = new Map(tests.map((test) => [test.title, test]));
const failed = tests.filter(({ title, passed }) => !passed && !excused.has(title));
const untrue = [...excused].filter((title) => known.get(title)?.passed !== false);
for (const { title, why } of failed) console.error(`FAILED ${title}\n${why}\n`);
for (const title of untrue) console.error(`LISTED, and it did not fail: ${title}`);
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${excused.size - untrue.length} failed as listed; ${seconds} s`);
// Nothing that has run is nothing that has passed.
const wrong = Math.max(failed.length + untrue.length, tests.length === 0 ? 1 : 0);
console.log(`${tests.filter(({ passed }) => passed).length} passed, ${wrong} failed`);
process.exitCode = wrong === 0 ? 0 : 1;
