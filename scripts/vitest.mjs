// Runs test files and reads the report: a file that fails is run once more by itself, since a machine
// at work with something else makes tests about processes wait longer than they do. What passed only
// then is told by name, for it is either such a wait or a race, and both are worth a look.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const ENDS = ['passed', 'failed'];

/**
 * Why a test was not run, as `test/support/needs.ts` has put it down.
 * @param {TestReport} test
 */
const reasonOf = ({ meta, tags }) =>
  meta.lacks ?? (tags.includes('slow') ? 'slow: npm run test:slow' : 'no reason given');

/** The runs of vitest that are under way, for who has to end them. @type {Set<import('node:child_process').ChildProcess>} */
export const running = new Set();

/** More than so many files that fail are no accident. */
const MOST_AGAIN = 12;

/** @typedef {{ fullName: string, status: string, failureMessages: string[], meta: { lacks?: string }, tags: string[] }} TestReport */
/** @typedef {{ name: string, status: string, message: string, assertionResults: TestReport[] }} FileReport */

/**
 * @typedef {object} Test
 * @property {string} file
 * @property {string} title `file > its whole name`.
 * @property {boolean} passed
 * @property {boolean} slow Whether it is left out of `npm test`.
 * @property {string} why What it said when it failed.
 * @property {string} [skipped] Why it was not run; it has neither passed nor failed then.
 */

/**
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, quiet?: boolean }} [options] Its output is not shown if quiet.
 * @returns {Promise<Test[]>}
 */
async function runOnce(args, { env, quiet = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-test-'));
  const report = join(folder, 'vitest.json');
  try {
    const code = await new Promise((resolve) => {
      const child = spawn(
        join(root, 'node_modules/.bin/vitest'),
        ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
        {
          cwd: root,
          stdio: quiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
          env: { ...process.env, ...env },
        },
      );
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
    // Errors outside of all tests; or there is no such file.
    const isUnexplained = code !== 0 && tests.every(({ passed, skipped }) => passed || skipped);
    return isUnexplained ? [...tests, broken(`vitest ended with ${code}`)] : tests;
  } catch (error) {
    // It died before it could report; nothing that has run is nothing that has passed.
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
 * Each test and how it ended; a file that could not be loaded, or left something behind, counts as one.
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
 * Runs test files; those in which a test failed that may not, once more by themselves.
 * @param {readonly string[]} paths What to run.
 * @param {{ env?: NodeJS.ProcessEnv, quiet?: boolean, mayFail?: ReadonlySet<string>, flags?: readonly string[], parallel?: readonly string[] }} [options]
 *   `mayFail` are titles; `flags` are arguments for vitest, `parallel` those of the first run alone.
 * @returns {Promise<{ tests: Test[], failed: Test[], passedAgain: Test[] }>} `passedAgain` has what
 *   failed first, and why; in `tests`, they have passed.
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

/**
 * What was not run, by reason: `skipped: 12 (not root), 4 (no fish)`; empty if all was.
 * @param {readonly Test[]} tests
 * @param {readonly string[]} others Reasons why other tests were not, one each.
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
