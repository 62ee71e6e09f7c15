// @module-tag slow
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed, where } from '../support/needs.js';
import { bareMachine, execute, type Machine } from './machine.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const nodeGyp = join(root, 'node_modules/.bin/node-gyp');
const prefix = dirname(dirname(process.execPath));
// Node's own headers where it has them; node-gyp would download the same.
const headers = existsSync(join(prefix, 'include/node/node.h')) ? [`--nodedir=${prefix}`] : [];
// What is tested is that the sources are complete, not what the optimiser makes of them.
const quick = { CARGO_PROFILE_RELEASE_OPT_LEVEL: '0', CARGO_PROFILE_RELEASE_LTO: 'off' };

let machine: Machine;
let checkout: string;

/** What is committed or about to be, as a clone would have it, without what was built. */
beforeAll(() => {
  machine = bareMachine();
  checkout = mkdtempSync(join(tmpdir(), 'forkline-checkout-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((path) => existsSync(join(root, path)))) {
    if (/^(native|scripts|Cargo|binding|package)/.test(file)) {
      cpSync(join(root, file), join(checkout, file));
    }
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  cpSync(join(root, 'dist'), join(checkout, 'dist'), { recursive: true });
});

afterAll(() => {
  machine.remove();
  rmSync(checkout, { recursive: true });
});

const importAndRun = `import('forkline')
  .then(({ run }) => run('echo hi'))
  .then((result) => console.log(result.output.text.trim()))
  .catch((error) => console.log(error.message))`;

test('G1: the error in a checkout that has not been built says how to build it', async () => {
  const { stdout } = await machine.run(checkout, ['node', '-e', importAndRun]);
  expect(stdout).toBe(
    'forkline has no native binary for linux x64 with glibc: with Rust and a C++ compiler, ' +
      `run 'npm run build' in ${checkout}\n`,
  );
});

test('building it without cargo stops with one line that names what to install', async () => {
  expect(await machine.run(checkout, ['node', 'scripts/build-native.mjs'])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr:
      'forkline: cargo was not found: install Rust (https://rustup.rs), then run this again\n',
  });
});

test('G1: a checkout builds its own binaries by node-gyp and uses them', {
  ...where(installed('cargo')),
  timeout: 600_000,
}, async () => {
  const env = { ...process.env, ...quick };
  const built = await execute(nodeGyp, ['rebuild', ...headers], { cwd: checkout, env });
  expect(built.exitCode, built.stderr).toBe(0);
  const result = await machine.run(checkout, ['node', '-e', importAndRun]);
  expect(result).toMatchObject({ exitCode: 0, stdout: 'hi\n' });
});
