// System calls of threads and processes, by strace. It is attached to each of them alone and follows no child: a
// traced shell would be so slow that what waits for it would do other things.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NotMeasured, needing } from '../not-measured.mjs';
import { BEGIN, END } from './marks.mjs';

/** @import { Task } from './types.d.ts' */

/**
 * Attaches. Returns a function that detaches, and returns the calls between the marks: by task, by name.
 * @param {readonly Task[]} tasks
 * @returns {Promise<() => Promise<Map<number, Map<string, number>>>>}
 */
export async function trace(tasks) {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-counts-'));
  const file = join(folder, 'trace');
  const targets = tasks.flatMap(({ id }) => ['-p', String(id)]);
  const args = ['-s', '0', '-e', 'signal=none', '-o', file, ...targets];
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => strace.once('close', resolve));
  const remove = () => rmSync(folder, { recursive: true });
  try {
    await attached(strace, tasks.length);
  } catch (error) {
    strace.kill();
    remove();
    throw error;
  }
  return async () => {
    strace.kill('SIGINT');
    await ended;
    const counts = countsIn(readFileSync(file, 'utf8'));
    remove();
    return counts;
  };
}

/**
 * Waits until strace has attached to all of them.
 * @param {import('node:child_process').ChildProcessByStdio<null, null, import('node:stream').Readable>} strace
 * @param {number} count
 */
function attached(strace, count) {
  let told = '';
  return new Promise((resolve, reject) => {
    strace.once('error', (error) =>
      reject(needing('strace', "the system's package strace")(error)),
    );
    strace.once('close', () => reject(new NotMeasured(`strace can't attach: ${told.trim()}`)));
    strace.stderr.setEncoding('utf8').on('data', (text) => {
      told += text;
      if (told.match(/ attached$/gm)?.length === count) resolve(undefined);
    });
  });
}

/**
 * Counts the calls between the marks. A line is `1234 read(5, ...`; the end of a call that others have
 * interrupted in the trace begins with `<...`.
 * @param {string} text
 */
function countsIn(text) {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.includes(BEGIN));
  const to = lines.findIndex((line) => line.includes(END));
  /** @type {Map<number, Map<string, number>>} */
  const counts = new Map();
  for (const line of lines.slice(from + 1, to)) {
    const [, id, name] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (id === undefined || name === undefined) continue;
    const calls = counts.get(Number(id)) ?? new Map();
    calls.set(name, (calls.get(name) ?? 0) + 1);
    counts.set(Number(id), calls);
  }
  return counts;
}
