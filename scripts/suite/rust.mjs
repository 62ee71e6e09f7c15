// Runs the Rust tests and reads what cargo says: a test that fails is run once more by itself, as a file of
// the TypeScript tests is, and reported by name if it passed only then.

import { spawn, spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { MOST_AGAIN } from './again.mjs';

/** @typedef {{ target: string, name: string }} RustTest `target` is cargo's way to name it: `-p NAME --lib`. */
/** @typedef {{ passed: number, ignored: number, failed: string[], passedAgain: string[] }} RustTally */

/**
 * Runs all Rust tests of a checkout. Returns undefined if there is no cargo; otherwise counts, and
 * commands that run what failed.
 * @param {string} root
 * @param {Set<import('node:child_process').ChildProcess>} running Holds the process while it runs.
 * @returns {Promise<RustTally | undefined>}
 */
export async function runRust(root, running) {
  if (spawnSync('cargo', ['--version']).error !== undefined) return;
  /** @param {readonly string[]} args */
  const cargo = (args) => cargoTest(args, root, running);
  const first = await cargo(['--locked', '--workspace', '--no-fail-fast']);
  const { tests, broken } = failuresIn(first.text);
  /** @type {RustTally} */
  const tally = { ...countsIn(first.text), failed: [...broken], passedAgain: [] };
  // It did not compile, say.
  if (!first.ok && tests.length === 0 && broken.length === 0) tally.failed.push('cargo test');
  for (const { target, name } of tests) {
    const args = [...target.split(' '), '--', '--exact', name];
    const passes =
      tests.length <= MOST_AGAIN &&
      countsIn((await cargo(['--locked', ...args])).text).passed === 1;
    if (passes) tally.passed += 1;
    tally[passes ? 'passedAgain' : 'failed'].push(commandOf(args));
  }
  return tally;
}

/**
 * Runs `cargo test`, passing its output on, both streams in the order in which they were written: what
 * cargo says of a target stands behind the target's own output.
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {Set<import('node:child_process').ChildProcess>} running
 * @returns {Promise<{ ok: boolean, text: string }>}
 */
function cargoTest(args, cwd, running) {
  return new Promise((resolve) => {
    const command = ['-c', 'exec cargo test "$@" 2>&1', 'sh', ...args];
    const child = spawn('sh', command, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(child);
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on('data', (chunk) => {
      chunks.push(chunk);
      process.stdout.write(chunk);
    });
    child.on('close', (code) => {
      running.delete(child);
      const text = stripVTControlCharacters(Buffer.concat(chunks).toString('utf8'));
      resolve({ ok: code === 0, text });
    });
  });
}

/**
 * Finds the failed tests, and names the targets that failed without naming one (a test ended the whole
 * program).
 * @param {string} text
 * @returns {{ tests: RustTest[], broken: string[] }}
 */
function failuresIn(text) {
  const [...ends] = text.matchAll(/^error: (?:test|doctest) failed, to rerun pass `(.+)`$/gm);
  /** @type {RustTest[]} */
  const tests = [];
  /** @type {string[]} */
  const broken = [];
  let from = 0;
  for (const { 1: target = '', index } of ends) {
    const list = /^failures:\n((?: {4}.+\n)+)\ntest result: FAILED/m.exec(text.slice(from, index));
    from = index;
    const names = (list?.[1] ?? '').split('\n').filter((line) => line !== '');
    for (const name of names) tests.push({ target, name: name.trim() });
    if (names.length === 0) broken.push(commandOf(target.split(' ')));
  }
  return { tests, broken };
}

/**
 * @param {string} text
 * @returns {{ passed: number, ignored: number }}
 */
function countsIn(text) {
  const counts = { passed: 0, ignored: 0 };
  const results = /^test result: \w+\. (\d+) passed; \d+ failed; (\d+) ignored;/gm;
  for (const [, passed, ignored] of text.matchAll(results)) {
    counts.passed += Number(passed);
    counts.ignored += Number(ignored);
  }
  return counts;
}

/** @param {readonly string[]} args */
const commandOf = (args) => `cargo test ${args.map(quoted).join(' ')}`;

/** @param {string} word */
const quoted = (word) => (/^[\w:./=-]+$/.test(word) ? word : `'${word}'`);
