/** @import { Row, SuiteResult } from './types.d.ts' */
import { times } from './rows.mjs';

const HEAD = [
  'id',
  'what',
  'forkline',
  'ratio',
  'to',
  'target',
  'met',
  'to launch floor',
  'the same for others',
];
const BUSY = 0.1; // cores: above this a figure is doubtful

/** @param {Row} row */
const cells = (row) => [
  row.id,
  row.what,
  row.figure,
  row.ratio ? times(row.ratio.value) : '',
  row.ratio?.to ?? '',
  row.target ?? '',
  row.met === undefined ? '' : row.met ? 'yes' : 'NO',
  row.launchRatio === undefined ? '' : times(row.launchRatio),
  Object.entries(row.others)
    .map(([name, value]) => `${name} ${value}`)
    .join(', '),
];

/** @param {SuiteResult} result */
const lines = (result) => result.report?.rows.map(cells) ?? [[result.name, withoutFigures(result)]];

/** @param {SuiteResult} result */
const withoutFigures = ({ failure, missing }) =>
  missing === undefined ? `FAILED: ${failure}` : `not measured: ${missing}`;

/**
 * @param {readonly SuiteResult[]} results
 */
export function table(results) {
  const body = results.flatMap(lines);
  // A failure's text may be long, and no column is to the right of it.
  const widths = HEAD.map((title, column) =>
    Math.max(
      title.length,
      ...body.filter((row) => row.length > 2).map((row) => row[column]?.length ?? 0),
    ),
  );
  /** @param {readonly string[]} row */
  const line = (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [line(HEAD), rule, ...body.map(line), '', ...notes(results)].join('\n');
}

/**
 * Returns whether other programs have disturbed the figures.
 * @param {SuiteResult} result
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
