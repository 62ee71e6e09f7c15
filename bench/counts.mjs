// Counts the work of one command: `npm run counts -- [--count N] [--json]`.
import { parseArgs } from 'node:util';
import { count } from './lib/counts/count.mjs';

/** @import { Counts } from './lib/counts/types.d.ts' */

const { values } = parseArgs({
  options: { count: { type: 'string', default: '500' }, json: { type: 'boolean', default: false } },
});

/** @param {number} value */
const few = (value) => value.toFixed(value < 10 ? 2 : 0).replace(/\.00$/, '');

/** @param {Counts} counts */
function table({ lanes, rows, heapBytes, frames, missing }) {
  /** @param {(row: Counts['rows'][number]) => number} figure */
  const sum = (figure) => rows.reduce((all, row) => all + figure(row), 0);
  /** @param {Counts['rows'][number]} row */
  const calls = ({ calls }) => [...calls.values()].reduce((all, times) => all + times, 0);
  /** @param {Counts['rows'][number]} row */
  const names = ({ calls }) =>
    [...calls].filter(([, times]) => times >= 0.05).map(([name, times]) => `${name} ${few(times)}`);
  const lines = rows.map((row) =>
    [
      `| ${row.kind}`,
      missing === undefined ? `${few(calls(row))} (${names(row).join(', ')})` : '',
      `${few(row.voluntary)} + ${few(row.preempted)}`,
      few(row.cpuUs),
      `${row.allocations === undefined ? '' : few(row.allocations)} |`,
    ].join(' | '),
  );
  const switches = `${few(sum((row) => row.voluntary))} + ${few(sum((row) => row.preempted))}`;
  return [
    `${lanes === 1 ? 'One at a time' : `${lanes} in flight`}, for one command:`,
    '',
    '| | system calls | switches, voluntary + preempted | CPU µs | allocations |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    `| sum | ${missing ?? few(sum(calls))} | ${switches} | ${few(sum((row) => row.cpuUs))} | |`,
    '',
    `JavaScript: ${few(frames)} calls of forkline's functions, ${(heapBytes / 1024).toFixed(1)} KiB of heap.`,
    ...(missing === undefined ? [] : [`System calls: not measured: ${missing}.`]),
    '',
  ].join('\n');
}

const all = [];
for (const lanes of [1, 64]) all.push(await count(Number(values.count), lanes));
/** @param {string} _ @param {unknown} value */
const plain = (_, value) => (value instanceof Map ? Object.fromEntries(value) : value);
process.stdout.write(
  values.json ? `${JSON.stringify(all, plain, 2)}\n` : all.map(table).join('\n'),
);
