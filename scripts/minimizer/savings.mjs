// Prints how many tokens the minimizer saves, by program: `node scripts/minimizer/savings.mjs`. It counts
// the recordings of test/minimizer, and beside them what a model is shown of each, which a test keeps as
// the minimizer makes it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tokensOf } from './tokens.mjs';

const RECORDINGS = fileURLToPath(new URL('../../test/minimizer/recordings', import.meta.url));

/** @typedef {{ program: string, outputs: number, before: number, after: number }} Row */

/**
 * @param {string} program
 * @returns {Row}
 */
function rowOf(program) {
  const files = readdirSync(join(RECORDINGS, program)).filter((name) => name.endsWith('.txt'));
  /** @param {...string} place */
  const tokens = (...place) =>
    files
      .map((file) => tokensOf(readFileSync(join(RECORDINGS, ...place, file), 'utf8')))
      .reduce((sum, count) => sum + count, 0);
  const before = tokens(program);
  return { program, outputs: files.length, before, after: tokens('shown', program) };
}

/** @param {number} count */
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** @param {Row} row */
const line = ({ program, outputs, before, after }) =>
  `| ${program} | ${outputs} | ${grouped(before)} | ${grouped(after)} | ${Math.round(100 * (1 - after / before))} % |`;

/** The table, in Markdown. */
export function savingsTable() {
  const rows = readdirSync(RECORDINGS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'shown')
    .map(({ name }) => rowOf(name))
    .sort((one, other) => (one.program < other.program ? -1 : 1));
  /** @param {'outputs' | 'before' | 'after'} field */
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  const all = {
    program: '**all**',
    outputs: sum('outputs'),
    before: sum('before'),
    after: sum('after'),
  };
  return [
    '| program | outputs | tokens | shown | saved |',
    '| --- | --- | --- | --- | --- |',
    ...[...rows, all].map(line),
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(savingsTable());
