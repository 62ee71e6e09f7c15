// Runs test files and reads the report: a file that fails is run once more by itself, since on a busy
// machine tests about processes wait longer. A test that passed only then is reported by name, since it
// has either such a wait or a race, and both are worth a look.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MOST_AGAIN } from './suite/again.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const ENDS = ['passed', 'failed'];

/**
 * Returns why a test was not run, as `test/support/needs.ts` has recorded it.
 * @param {TestReport} test
 */
const reasonOf = ({ meta, tags }) =>
  meta.lacks ?? (tags.includes('slow') ? 'slow: npm run test:slow' : 'no reason given');

/**
 * The current runs of vitest, to be ended by the caller. @type
 * {Set<import('node:child_process').ChildProcess>}
 */
export const running = new Set();

/** @typedef {{ fullName: string, status: string, failureMessages: string[], meta: { lacks?: string }, tags: string[] }} TestReport */
/** @typedef {{ name: string, status: string, message: string, assertionResults: TestReport[] }} FileReport */

/**
 * @typedef {object} Test
 * @property {string} file
 * @property {string} title `file > its whole name`.
 * @property {boolean} passed
 * @property {boolean} slow Whether `npm test` leaves it out.
 * @property {string} why The message of its failure.
 * @property {string} [skipped] Why it was not run; it has neither passed nor failed then.
 */

/**
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, quiet?: boolean, runtime?: readonly string[] }} [options] Its output is
 * not shown if quiet; `runtime` is what runs JavaScript in place of Node.
 * @returns {Promise<Test[]>}
 */
async function runOnce(args, { env, quiet = false, runtime = [process.execPath] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-test-'));
  const report = join(folder, 'vitest.json');
  try {
    const code = await new Promise((resolve) => {
      const [program = '', ...flags] = runtime;
      const vitest = join(root, 'node_modules/vitest/vitest.mjs');
      const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
      const child = spawn(program, [...flags, vitest, 'run', ...reports, ...args], {
        cwd: root,
        stdio: quiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, ...env },
      });
      running.add(child);
      child.on('error', resolve);
      child.on('close', (code) => {
        running.delete(child);
        resolve(code);
      });
    });
    /** @type {{ testResults: FileReport[] }} */
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const tests = testResults.flatMap(testsOf);
    // There were errors outside of all tests, or the file does not exist.
    const isUnexplained = code !== 0 && tests.every(({ passed, skipped }) => passed || skipped);
    return isUnexplained ? [...tests, broken(`vitest ended with ${code}`)] : tests;
  } catch (error) {
    // Vitest ended before it could report; then no test counts as passed.
    return [broken(String(error))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {string} why
 * @returns {Test}
 */
const broken = (why) => ({ file: '', title: 'vitest', passed: false, slow: false, why });

/**
 * Returns each test and its result; a file that could not be loaded, or left something behind, counts as
 * one test.
 * @param {FileReport} report
 * @returns {Test[]}
 */
function testsOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const tests = assertionResults.map((test) => ({
    file,
    title: `${file} > ${test.fullName}`,
    passed: test.status === 'passed',
    slow: test.tags.includes('slow'),
    why: test.failureMessages.join('\n'),
    ...(!ENDS.includes(test.status) && { skipped: reasonOf(test) }),
  }));
  const isBroken = status === 'failed' && tests.every(({ passed, skipped }) => passed || skipped);
  return isBroken ? [...tests, { ...broken(message), file, title: file }] : tests;
}

/**
 * Runs test files; those in which a test failed that must not, once more by themselves.
 * @param {readonly string[]} paths Files to run.
 * @param {{ env?: NodeJS.ProcessEnv, quiet?: boolean, runtime?: readonly string[], mayFail?:
 * ReadonlySet<string>, flags?: readonly string[], parallel?: readonly string[] }} [options] `mayFail` are titles; `flags` are arguments for
 * vitest, `parallel` those of the first run alone.
 * @returns {Promise<{ tests: Test[], failed: Test[], passedAgain: Test[] }>} `passedAgain` has the tests
 * that failed at first, and why; in `tests`, they have passed.
 */
export async function runTests(
  paths,
  { mayFail = new Set(), flags = [], parallel = [], ...options } = {},
) {
  /** @param {Test} test */
  const isWrong = ({ passed, skipped, title }) => !passed && !skipped && !mayFail.has(title);
  const first = await runOnce([...flags, ...parallel, ...paths], options);
  const wrong = first.filter(isWrong);
  const files = new Set(wrong.map(({ file }) => file));
  if (files.size === 0 || files.size > MOST_AGAIN || files.has('')) {
    return { tests: first, failed: wrong, passedAgain: [] };
  }
  const second = await runOnce([...flags, ...files], options);
  const tests = [...first.filter(({ file }) => !files.has(file)), ...second];
  const failed = second.filter(isWrong);
  const still = new Set(failed.map(({ title }) => title));
  return { tests, failed, passedAgain: wrong.filter(({ title }) => !still.has(title)) };
}

/**
 * Prints the names of tests that failed, and of those that failed only the first time.
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

/**
 * Prints how many tests were not run, by reason: `skipped: 12 (not root), 4 (no fish)`; nothing if all
 * were run.
 * @param {readonly Test[]} tests
 * @param {readonly string[]} others Reasons for other tests, one each.
 */
export function tellSkipped(tests, others = []) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  const reasons = tests.flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped]));
  for (const reason of [...reasons, ...others]) sums.set(reason, (sums.get(reason) ?? 0) + 1);
  const parts = [...sums].sort(([, one], [, other]) => other - one);
  if (parts.length === 0) return;
  console.log(`skipped: ${parts.map(([reason, count]) => `${count} (${reason})`).join(', ')}`);
}
