// This run beside another: what the table has of the other one in each row, and what is said below it.
/** @import { Column, Row, Run } from '../types.d.ts' */
/** @import { OtherRow, OtherRun } from './other-run.mjs' */
import { times } from '../rows.mjs';
import { isDoubtful } from '../table.mjs';
import { change, sameProgram } from './change.mjs';

/** @param {OtherRow} row */
const key = ({ id, what }) => `${id} ${what}`;

/**
 * The rows of these suites.
 * @param {OtherRun} run
 * @param {ReadonlySet<string>} names
 */
const rowsOf = ({ suites }, names) =>
  suites.flatMap(({ name, report }) => (names.has(name) ? (report?.rows ?? []) : []));

/**
 * Compares the suites that this run has measured, or tried to.
 * @param {Run} run
 * @param {OtherRun} other
 * @param {string} file where the other one was read from
 * @returns {{ columns: Column[], notes: string[] }}
 */
export function comparison(run, other, file) {
  const names = new Set(run.suites.map(({ name }) => name));
  const here = new Set(rowsOf(run, names).map(key));
  const there = new Map(rowsOf(other, names).map((row) => [key(row), row]));
  /** @param {(row: Row, before: OtherRow) => string} show */
  const cell = (show) => (/** @type {Row} */ row) => {
    const before = there.get(key(row));
    return before === undefined ? '' : show(row, before);
  };
  return {
    columns: [
      { title: 'other run', cell: cell((_, before) => before.figure) },
      { title: 'its ratio', cell: cell(ratioOf) },
      { title: 'change', cell: cell(change) },
    ],
    notes: [
      `Compared: ${described(run)}; with ${file}: ${described(other)}.`,
      ...differences(run, other),
      ...busyIn(other, names),
      ...listed(
        'Only in this run',
        [...here].filter((row) => !there.has(row)),
      ),
      ...listed(
        `Only in ${file}`,
        [...there.keys()].filter((row) => !here.has(row)),
      ),
    ],
  };
}

/**
 * The other run's ratio, and to what, where that is something else.
 * @param {OtherRow} row
 * @param {OtherRow} before
 */
function ratioOf(row, before) {
  if (before.ratio === undefined) return '';
  const value = times(before.ratio.value);
  return sameProgram(row, before) ? value : `${value} to ${before.ratio.to}`;
}

/** @param {OtherRun} run */
function described({ date, machine: { cpu, cores, memoryGiB, kernel, node } }) {
  const minute = date.slice(0, 16).replace('T', ' ');
  return `${minute}, ${cores} cores of ${cpu}, ${memoryGiB} GiB, Linux ${kernel}, Node ${node}`;
}

/**
 * What makes the figures of both incomparable.
 * @param {OtherRun} run
 * @param {OtherRun} other
 */
function differences(run, other) {
  const here = { ...run.machine, ...run.settings };
  const there = Object.entries({ ...other.machine, ...other.settings });
  const different = there.flatMap(([name, value]) => {
    const own = here[/** @type {keyof typeof here} */ (name)];
    return own === value ? [] : [`${name} (${own} here, ${value} there)`];
  });
  if (different.length === 0) return [];
  return [`WARNING: the runs differ in ${different.join(', ')}.`];
}

/**
 * @param {OtherRun} other
 * @param {ReadonlySet<string>} names
 */
function busyIn({ suites }, names) {
  const busy = suites.filter((suite) => names.has(suite.name) && isDoubtful(suite));
  if (busy.length === 0) return [];
  return [
    `Doubtful in the other run, where other programs were busy: ${busy.map(({ name }) => name).join(', ')}.`,
  ];
}

/**
 * @param {string} title
 * @param {readonly string[]} rows
 */
const listed = (title, rows) => (rows.length === 0 ? [] : [`${title}: ${rows.join('; ')}.`]);
