// The work of agents in a repository: a small one, made anew, and a fixed mix of commands that only read.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILES = 120;
const LINES = 80;
const SEED = 20_240_607;

/** Returns a generator of numbers from 0 to 1, with the same sequence for the same seed. */
export function numbers(seed = SEED) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS = ['parse', 'token', 'config', 'buffer', 'stream', 'error', 'TODO', 'result', 'index'];

/** @param {string} directory to be created */
export function makeRepository(directory) {
  const next = numbers();
  const word = () => WORDS[Math.floor(next() * WORDS.length)] ?? '';
  for (let file = 0; file < FILES; file++) {
    const folder = join(directory, `src/module${file % 8}`);
    mkdirSync(folder, { recursive: true });
    const lines = Array.from(
      { length: LINES },
      (_, line) => `${line} ${word()} ${word()} ${word()}`,
    );
    writeFileSync(join(folder, `file${file}.txt`), `${lines.join('\n')}\n`);
  }
  const numbered = Array.from({ length: 20_000 }, () => `${Math.floor(next() * 1e9)} ${word()}`);
  writeFileSync(join(directory, 'data.txt'), `${numbered.join('\n')}\n`);
}

/** The weights of the mix: two thirds of the commands take less than 10 ms when nothing else runs. */
const MIX = [
  [14, 'cat src/module3/file27.txt'],
  [12, 'ls src && ls src/module1'],
  [12, "sed -n '20,40p' src/module5/file13.txt"],
  [10, 'grep -rn TODO src/module2 | head -20'],
  [8, 'wc -l src/module4/*.txt'],
  [6, 'echo "$PWD" >/dev/null; test -f data.txt && echo there'],
  [4, 'cat missing.txt; echo "exit $?"'],
  [10, "find src -name '*.txt' | sort | tail -5"],
  [8, 'grep -rc error src | sort -t: -k2 -n | tail -3'],
  [6, 'sort -n data.txt | uniq -c | tail -3'],
  [4, "awk '{ count[$2]++ } END { for (w in count) print w, count[w] }' data.txt | sort"],
  [3, 'sum=0; for ((i = 0; i < 20000; i++)); do ((sum += i)); done; echo $sum'],
  [3, 'gzip -c data.txt | gzip -dc | sha256sum'],
];

/**
 * Returns commands in a fixed order.
 * @param {number} count
 */
export function commands(count) {
  const next = numbers();
  const all = MIX.flatMap(([times, text]) =>
    Array.from({ length: Number(times) }, () => `${text}`),
  );
  return Array.from({ length: count }, () => all[Math.floor(next() * all.length)] ?? '');
}

/** @param {string} text */
export const digest = (text) => createHash('sha256').update(text).digest('hex');

/**
 * The output of each command of the mix, run one after the other and on a quiet machine.
 * @param {string} directory
 */
export function references(directory) {
  return Object.fromEntries(
    MIX.map(([, text]) => {
      const merged = `{ ${text}\n} 2>&1`;
      const printed = execFileSync('/bin/bash', ['-c', merged], {
        cwd: directory,
        encoding: 'utf8',
        // A bash whose stdin is a socket takes itself for one started by rshd, and reads ~/.bashrc.
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return [text, digest(withoutEnd(printed))];
    }),
  );
}

/**
 * Removes the last newline, which some programs keep and others don't.
 * @param {string} text
 */
export const withoutEnd = (text) => text.replace(/\n$/, '');
