// `npm run bench -- --compare FILE`: this run beside another.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { comparison } from '../../bench/lib/compare/comparison.mjs';
import { readRun } from '../../bench/lib/compare/other-run.mjs';
import { table } from '../../bench/lib/table.mjs';
import type { Row, Run } from '../../bench/lib/types.js';
import { endOf } from '../support/cli.js';
import { root } from '../support/house.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';

leavesNothingBehind();
const folders = useFolders();

const row = (more: Partial<Row>): Row => ({
  id: 'P1',
  what: 'echo',
  figure: '2.00 ms',
  others: {},
  ...more,
});

/** A run of one suite, `p1`, with these rows. */
function runOf(rows: readonly Row[], more: Partial<Run> = {}): Run {
  return {
    date: '2026-01-02T03:04:05.678Z',
    machine: { cpu: 'a processor', cores: 2, memoryGiB: 8, kernel: '6.12.0', node: 'v20.0.0' },
    versions: { forkline: '0.1.0' },
    settings: { quick: false, past: 20_000 },
    suites: [{ name: 'p1', seconds: 1, otherWork: 0, report: { rows, medians: {} } }],
    ...more,
  };
}

/** The file of a run, as the runner writes it, or any other text. */
function fileOf(content: Run | string): string {
  const file = join(folders(), 'run.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** What is printed of one run beside another. */
function printed(run: Run, other: Run): string {
  const { columns, notes } = comparison(run, readRun(fileOf(other)), 'other.json');
  return [table(run.suites, columns), ...notes].join('\n');
}

/** What is said of a row's change. */
function changeOf(now: Partial<Row>, before: Partial<Row>): string | undefined {
  const other = readRun(fileOf(runOf([row(before)])));
  const { columns } = comparison(runOf([row(now)]), other, 'other.json');
  return columns.find(({ title }) => title === 'change')?.cell(row(now));
}

const ratio = (value: number, to: string) => ({ ratio: { to, value } });

test.each([
  ['a ratio', ratio(1.1, 'floor 2.00 ms'), ratio(1, 'floor 1.00 ms'), 'ratio +10 %, worse'],
  ['a small one', ratio(1.01, 'floor 2.00 ms'), ratio(1, 'floor'), 'ratio +1.0 %, worse'],
  ['no change', ratio(1.1, 'floor 2.00 ms'), ratio(1.1, 'floor 1.00 ms'), 'ratio the same'],
  [
    'a ratio to another program',
    { ...ratio(1.1, 'cradle floor 1.9 ms'), figure: '800 µs' },
    { ...ratio(1.5, 'floor 1.9 ms'), figure: '1.00 ms' },
    'figure -20 %, better',
  ],
  ['a speed', { figure: '1200 MB/s' }, { figure: '1000 MB/s' }, 'figure +20 %, better'],
  ['a size', { figure: '1.0 MiB' }, { figure: '512 KiB' }, 'figure +100 %, worse'],
  ['a share', { figure: '0.3 %' }, { figure: '0.6 %' }, 'figure -50 %, better'],
  ['a count from nothing', { figure: '3' }, { figure: '0' }, 'figure worse'],
  ['other units', { figure: '3' }, { figure: '3 ms' }, 'not comparable'],
])('the change of a row is told: %s', (_, now, before, said) => {
  expect(changeOf(now, before)).toBe(said);
});

test('the other figure and ratio stand beside those of this run', () => {
  const now = runOf([row(ratio(1.1, 'floor 1.9 ms'))]);
  const before = runOf([row({ ...ratio(1.25, 'launch floor 2.0 ms'), figure: '3.00 ms' })]);
  const [head = '', , line = ''] = printed(now, before).split('\n');
  expect(head).toMatch(/ to +other run +its ratio +change /);
  expect(line).toMatch(/^P1 +echo +2.00 ms +1.10 +floor 1.9 ms +3.00 ms +1.25 to launch floor/);
});

test('rows that only one run has are named, of the suites that were run', () => {
  const other = runOf([row({ what: 'old' })]);
  const report = { rows: [row({ id: 'P9' })], medians: {} };
  other.suites.push({ name: 'p9', seconds: 1, otherWork: 0, report });
  const text = printed(runOf([row({ what: 'new' })]), other);
  expect(text).toContain('Only in this run: P1 new.');
  expect(text).toContain('Only in other.json: P1 old.');
  expect(text).not.toContain('P9');
});

test('both runs are described, and a difference is warned of', () => {
  const other = runOf([row({})], { settings: { quick: true, past: 20_000 } });
  const described = '2026-01-02 03:04, 2 cores of a processor, 8 GiB, Linux 6.12.0, Node v20.0.0';
  const text = printed(runOf([row({})]), other);
  expect(text).toContain(`Compared: ${described}; with other.json: ${described}.`);
  expect(text).toContain('WARNING: the runs differ in quick (false here, true there).');
  expect(printed(runOf([row({})]), runOf([row({})]))).not.toContain('WARNING');
});

test('a ratio that was no number is read', () => {
  expect(changeOf(ratio(1, 'floor'), ratio(Number.NaN, 'floor'))).toBe('ratio unknown');
});

test.each([
  ['no JSON', '{ "date": ', /run\.json is not JSON: /],
  ['another shape', '[]', /run\.json is not the result of a run: the whole: /],
  [
    'rows without figures',
    JSON.stringify(runOf([row({})])).replace('"figure"', '"number"'),
    /run\.json is not the result of a run: suites\.0\.report\.rows\.0\.figure: /,
  ],
])('a file that has %s says so before anything is measured', async (_, content, said) => {
  const { code, stdout, stderr } = await bench('p1', '--compare', fileOf(content));
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(said);
  expect(stderr.split('\n')).toHaveLength(2);
});

test('so does one that is missing, and one beside --json', async () => {
  const missing = await bench('--compare', join(folders(), 'none.json'));
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/none\.json cannot be/) });
  const both = await bench('--json', '--compare', fileOf(runOf([])));
  expect(both).toMatchObject({ code: 2, stderr: expect.stringMatching(/^bench: --compare/) });
});

/** Runs the runner, which is to stop at once. */
const bench = (...words: readonly string[]) =>
  endOf(
    spawn(process.execPath, [join(root, 'bench/run.mjs'), ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
