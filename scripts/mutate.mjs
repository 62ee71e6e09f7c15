// Checks whether the tests detect a fault: `npm run mutate -- ROOM [--only N[,N…]] [--list]`.
//
// test/mutants/ROOM.json has small faults, each as a text of a file and its replacement, with the tests
// that should detect it. The faults are put, one after another, into a copy of the tree in build/mutants
// (never into the tree itself), the copy is built, and the tests are run. A fault that they detect is
// `killed`; one that they do not detect has `survived`, and needs a test. A fault whose text is not found
// exactly once is `stale`: the code has changed, and the fault must be rewritten. One that does not build
// is no fault at all, and reported as `broken`.
//
// First all named tests run without a fault, since a test that fails then proves nothing.

import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll, others } from './suite/processes.mjs';
import { root } from './vitest.mjs';

/**
 * A fault; `says` describes its effect. `tests` are files of vitest, or `cargo PACKAGE [ARGUMENT…]`. With
 * `dist`, they need the built src. `equivalent` says why no test can detect the fault.
 * @typedef {{ says: string, file: string, old: string, new: string, tests: string[], dist?: boolean,
 * equivalent?: string }} Mutant
 */

const faults = join(root, 'test', 'mutants');
const place = join(root, 'build', 'mutants');
const tree = join(place, 'tree');
/** The time limit: a fault may make a test wait for ever. */
const MOST_MS = 15 * 60_000;
/** Marks the processes of this run. */
const mark = randomUUID();

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, list: { type: 'boolean' } },
});
const [room] = positionals;
if (!fs.existsSync(join(faults, `${room}.json`))) {
  const rooms = fs.readdirSync(faults).map((name) => name.replace(/\.json$/, ''));
  console.error(`npm run mutate -- ROOM [--only N[,N…]] [--list]; rooms: ${rooms.join(', ')}`);
  process.exit(2);
}
/** @type {Mutant[]} */
const all = JSON.parse(fs.readFileSync(join(faults, `${room}.json`), 'utf8'));
const only = values.only?.split(',').map(Number);
const chosen = all
  .map((mutant, index) => ({ ...mutant, number: index + 1 }))
  .filter(({ number }) => only === undefined || only.includes(number));

/** @param {string} test */
const isCargo = (test) => test.startsWith('cargo ');
/** @param {Mutant} mutant */
const needsNative = ({ file, tests }) => file.startsWith('native/') && !tests.every(isCargo);
/** @param {string} text */
const lastLine = (text) => text.trim().split('\n').at(-1) ?? '';

/**
 * Runs a program in the copy; returns its output if it fails.
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>}
 */
function failureOf(program, args) {
  const target = join(place, 'target');
  const env = { ...process.env, NO_COLOR: '1', CARGO_TARGET_DIR: target, FORKLINE_MUTANTS: mark };
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: tree, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    const told = (/** @type {unknown} */ data) => {
      text = `${text}${data}`.slice(-200_000);
    };
    child.stdout.on('data', told);
    child.stderr.on('data', told);
    child.on('error', told);
    const late = setTimeout(() => {
      told(`\nFAIL it was not over within ${MOST_MS / 60_000} minutes\n`);
      endAll();
    }, MOST_MS);
    // A fault in the code that ends commands leaves some running, and they hold the pipes.
    child.on('exit', endAll);
    child.on('close', (code) => {
      clearTimeout(late);
      resolve(code === 0 ? undefined : text);
    });
  });
}

/** Ends the processes that were started here and still run, whichever process is their parent by now. */
function endAll() {
  const entry = `FORKLINE_MUTANTS=${mark}`;
  killAll(others().filter(({ environment }) => environment.includes(entry)));
}

/** @param {string} test @param {readonly string[]} more */
function cargo(test, more = []) {
  const [, name = '', ...filter] = test.split(' ');
  const args = ['test', '--quiet', '--locked', '--profile', 'quick', ...more, '-p', name];
  return failureOf('cargo', [...args, ...filter]);
}

/** @param {readonly string[]} tests @returns {Promise<string | undefined>} The failure. */
async function failing(tests) {
  for (const test of tests.filter(isCargo)) {
    const text = await cargo(test);
    if (text !== undefined) return /^---- (.*) stdout ----$/m.exec(text)?.[1] ?? lastLine(text);
  }
  const files = tests.filter((test) => !isCargo(test));
  if (files.length === 0) return undefined;
  const text = await failureOf('node_modules/.bin/vitest', ['run', '--bail=1', ...files]);
  return text && (/^ *FAIL *(.*)$/m.exec(text)?.[1] ?? lastLine(text));
}

/** The number of the fault that the copy was built with; 0: none. */
const built = { native: -1, ts: 0 };

/**
 * @param {number} number @param {Mutant} [mutant] @returns {Promise<string | undefined>} Why it cannot be
 * built.
 */
async function build(number, mutant) {
  const native = mutant && needsNative(mutant) ? number : 0;
  if (built.native !== native && chosen.some(needsNative)) {
    built.native = native;
    const text = await failureOf('node', ['scripts/build-native.mjs', '--quick']);
    if (text !== undefined) return text;
  }
  const ts = mutant?.dist ? number : 0;
  if (built.ts !== ts) {
    built.ts = ts;
    const text = await failureOf('node', ['scripts/build-ts.mjs']);
    if (text !== undefined) return text;
  }
  for (const test of mutant?.tests.filter(isCargo) ?? []) {
    const text = await cargo(test, ['--no-run']);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** @param {Mutant & { number: number }} mutant @returns {Promise<[keyof typeof counts, string]>} */
async function verdict(mutant) {
  const path = join(tree, mutant.file);
  const text = fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '';
  const [before, after, ...more] = text.split(mutant.old);
  if (after === undefined || more.length > 0) return ['stale', `not once in ${mutant.file}`];
  fs.writeFileSync(path, `${before}${mutant.new}${after}`);
  try {
    const broken = await build(mutant.number, mutant);
    if (broken !== undefined) return ['broken', broken.slice(-2000)];
    const failed = await failing(mutant.tests);
    if (failed !== undefined) return ['killed', failed];
    return ['survived', mutant.equivalent ? `as it must: ${mutant.equivalent}` : mutant.file];
  } finally {
    fs.writeFileSync(path, text);
  }
}

if (values.list) {
  for (const { number, says, file } of chosen) console.log(`${number} ${says} (${file})`);
  process.exit(0);
}
fs.rmSync(tree, { recursive: true, force: true });
const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root });
const files = listed.stdout.toString().split('\0').filter(Boolean);
for (const name of [...files, 'dist', 'native/prebuilt']) {
  const from = join(root, name);
  if (fs.existsSync(from)) fs.cpSync(from, join(tree, name), { recursive: true });
}
fs.symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));

const named = [...new Set(chosen.flatMap(({ tests }) => tests))];
const failed = (await build(0)) ?? (await failing(named));
if (failed !== undefined) {
  console.error(`Without any fault this fails, so it would prove nothing: ${failed}`);
  process.exit(1);
}
const counts = { killed: 0, survived: 0, stale: 0, broken: 0 };
for (const mutant of chosen) {
  const [how, why] = await verdict(mutant);
  counts[how] += 1;
  console.log(`${how} ${room} ${mutant.number}: ${mutant.says} (${why})`);
}
const told = Object.entries(counts).map(([how, count]) => `${count} ${how}`);
console.log(`${room}: ${chosen.length} faults, ${told.join(', ')}`);
const known = chosen.filter(({ equivalent }) => equivalent).length;
process.exitCode = counts.survived > known || counts.stale + counts.broken > 0 ? 1 : 0;
