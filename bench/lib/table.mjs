/** @import { Column, SuiteResult } from './types.d.ts' */
import { times } from './rows.mjs';

/** @type {readonly Column[]} */
const FIGURES = [
  { title: 'id', cell: (row) => row.id },
  { title: 'what', cell: (row) => row.what },
  { title: 'forkline', cell: (row) => row.figure },
  { title: 'ratio', cell: (row) => (row.ratio ? times(row.ratio.value) : '') },
  { title: 'to', cell: (row) => row.ratio?.to ?? '' },
];
/** @type {readonly Column[]} */
const VERDICT = [
  { title: 'target', cell: (row) => row.target ?? '' },
  { title: 'met', cell: (row) => (row.met === undefined ? '' : row.met ? 'yes' : 'NO') },
  {
    title: 'to launch floor',
    cell: (row) => (row.launchRatio === undefined ? '' : times(row.launchRatio)),
  },
  {
    title: 'the same for others',
    cell: ({ others }) =>
      Object.entries(others)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
  },
];
const BUSY = 0.1; // cores: above this a figure is doubtful

/** @param {SuiteResult} result */
const withoutFigures = ({ failure, missing }) =>
  missing === undefined ? `FAILED: ${failure}` : `not measured: ${missing}`;

/**
 * @param {readonly SuiteResult[]} results
 * @param {readonly Column[]} [more] columns that stand beside the figures
 */
export function table(results, more = []) {
  const columns = [...FIGURES, ...more, ...VERDICT];
  const body = results.flatMap(
    (result) =>
      result.report?.rows.map((row) => columns.map(({ cell }) => cell(row))) ?? [
        [result.name, withoutFigures(result)],
      ],
  );
  // A failure's text may be long, and no column is to the right of it.
  const whole = body.filter((row) => row.length > 2);
  const widths = columns.map(({ title }, column) =>
    Math.max(title.length, ...whole.map((row) => row[column]?.length ?? 0)),
  );
  /** @param {readonly string[]} row */
  const line = (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  const head = line(columns.map(({ title }) => title));
  return [head, rule, ...body.map(line), '', ...notes(results)].join('\n');
}

/**
 * Returns whether other programs have disturbed the figures.
 * @param {Pick<SuiteResult, 'otherWork'>} result
 */
export const isDoubtful = ({ otherWork }) => otherWork > BUSY;

/** @param {readonly SuiteResult[]} results */
function notes(results) {
  const rows = results.flatMap(({ report }) => report?.rows ?? []);
  const judged = rows.filter(({ met }) => met !== undefined);
  const missed = judged.filter(({ met }) => met === false);
  const failed = results.filter(({ failure }) => failure !== undefined);
  const busy = results.filter(isDoubtful);
  const notes = [`${judged.length - missed.length} targets met, ${missed.length} missed.`];
  if (failed.length > 0) notes.push(`Failed: ${failed.map(({ name }) => name).join(', ')}.`);
  const missing = results.filter(({ missing }) => missing !== undefined);
  if (missing.length > 0)
    notes.push(`Not measured: ${missing.map(({ name }) => name).join(', ')}.`);
  const leftOut = new Set(results.flatMap((result) => result.leftOut ?? []));
  if (leftOut.size > 0) notes.push(`Left out: ${[...leftOut].join('; ')}.`);
  if (busy.length > 0) {
    const cores = busy.map(({ name, otherWork }) => `${name} ${otherWork.toFixed(1)}`).join(', ');
    notes.push(`Doubtful, since other programs kept this many cores busy: ${cores}.`);
  }
  return notes;
}
