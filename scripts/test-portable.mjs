// Runs tests of the native engine on the portable one: `node scripts/test-portable.mjs`. The list of
// tests, and of those that may fail, with reasons, is in test/engine/portable/exceptions.json. A test
// that may fail and passes is a failure too, so that the list stays true. The last line sums up:
// `N passed, N failed`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runTests, tell, tellSkipped } from './vitest.mjs';

/** @typedef {{ because: string, tests: string[] }} Exception A test is `file > its whole name`. */
/** @type {{ suites: string[], notRun: { because: string, files: string[] }[], mayFail: Exception[] }} */
const list = JSON.parse(readFileSync(join(root, 'test/engine/portable/exceptions.json'), 'utf8'));

const began = performance.now();
const excused = new Set(list.mayFail.flatMap((exception) => exception.tests));
const excluded = list.notRun.flatMap(({ files }) => files.flatMap((file) => ['--exclude', file]));
const result = await runTests(list.suites, {
  flags: excluded,
  env: { FORKLINE_ENGINE: 'portable' },
  quiet: true,
  mayFail: excused,
  // Tests distinguish their own processes from others: two files at a time save half of the time.
  parallel: ['--fileParallelism', '--maxWorkers=2'],
});
const { tests, failed } = result;
const known = new Map(tests.filter(({ skipped }) => !skipped).map((test) => [test.title, test]));
const untrue = [...excused].filter((title) => known.get(title)?.passed !== false);
for (const title of untrue) console.log(`LISTED, and it did not fail: ${title}`);
tell(result);
tellSkipped(tests);
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${excused.size - untrue.length} failed as listed; ${seconds} s`);
const wrong = failed.length + untrue.length;
console.log(`${tests.filter(({ passed }) => passed).length} passed, ${wrong} failed`);
process.exitCode = wrong === 0 ? 0 : 1;
