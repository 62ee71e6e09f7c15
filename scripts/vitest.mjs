// Runs test files and reads the report: a file that fails is run once more by itself, since a machine
// at work with something else makes tests about processes wait longer than they do. What passed only
// then is told by name, for it is either such a wait or a race, and both are worth a look.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** More than so many files that fail are no accident. */
const MOST_AGAIN = 12;

/** @typedef {{ name: string, status: string, message: string, assertionResults: { fullName: string, status: string, failureMessages: string[] }[] }} FileReport */

/** @typedef {{ file: string, title: string, passed: boolean, why: string }} Test A title is `file > its whole name`. */

/**
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, quiet?: boolean }} [options] Its output is not shown if quiet.
 * @returns {Promise<Test[]>}
 */
async function runOnce(args, { env, quiet = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-test-'));
  const report = join(folder, 'vitest.json');
  try {
    await new Promise((resolve) => {
      const child = spawn(
        join(root, 'node_modules/.bin/vitest'),
        ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
        {
          cwd: root,
          stdio: quiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
          env: { ...process.env, ...env },
        },
      );
      child.on('error', resolve);
      child.on('close', resolve);
    });
    /** @type {{ testResults: FileReport[] }} */
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.flatMap(testsOf);
  } catch (error) {
    // It died before it could report; nothing that has run is nothing that has passed.
    return [{ file: '', title: 'vitest', passed: false, why: String(error) }];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Each test and how it ended; a file that could not be loaded, or left something behind, counts as one.
 * @param {FileReport} report
 * @returns {Test[]}
 */
function testsOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const tests = assertionResults
    .filter((test) => test.status === 'passed' || test.status === 'failed')
    .map((test) => ({
      file,
      title: `${file} > ${test.fullName}`,
      passed: test.status === 'passed',
      why: test.failureMessages.join('\n'),
    }));
  const isBroken = status === 'failed' && tests.every(({ passed }) => passed);
  return isBroken ? [...tests, { file, title: file, passed: false, why: message }] : tests;
}

/**
 * Runs test files; those in which a test failed that may not, once more by themselves.
 * @param {readonly string[]} args What to run, as vitest's arguments.
 * @param {{ env?: NodeJS.ProcessEnv, quiet?: boolean, mayFail?: ReadonlySet<string>, parallel?: readonly string[] }} [options]
 *   `mayFail` are titles; `parallel` are arguments of the first run alone.
 * @returns {Promise<{ tests: Test[], failed: Test[], passedAgain: Test[] }>} `passedAgain` has what
 *   failed first, and why; in `tests`, they have passed.
 */
export async function runTests(args, { mayFail = new Set(), parallel = [], ...options } = {}) {
  /** @param {Test} test */
  const isWrong = ({ passed, title }) => !passed && !mayFail.has(title);
  const first = await runOnce([...parallel, ...args], options);
  const wrong = first.filter(isWrong);
  const files = new Set(wrong.map(({ file }) => file));
  if (files.size === 0 || files.size > MOST_AGAIN || files.has('')) {
    return { tests: first, failed: wrong, passedAgain: [] };
  }
  const second = await runOnce([...files], options);
  const tests = [...first.filter(({ file }) => !files.has(file)), ...second];
  const failed = second.filter(isWrong);
  const still = new Set(failed.map(({ title }) => title));
  return { tests, failed, passedAgain: wrong.filter(({ title }) => !still.has(title)) };
}

/**
 * Says by name what failed, and what did only the first time.
 * @param {{ failed: readonly Test[], passedAgain: readonly Test[] }} result
 */
export function tell({ failed, passedAgain }) {
  for (const { title, why } of passedAgain) {
    console.log(`PASSED ONLY WHEN RUN AGAIN ${title}\n${why}\n`);
  }
  for (const { title, why } of failed) console.log(`FAILED ${title}\n${why}\n`);
  for (const { title } of passedAgain) console.log(`passed only when run again: ${title}`);
  for (const { title } of failed) console.log(`failed: ${title}`);
}
