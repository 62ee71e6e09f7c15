// Builds the addon and the keeper with cargo and puts them where src/engine/binding.ts looks first.
//
// One script for every way in: `npm ci` (prepare), `npm run build:native`, and `npx node-gyp
// rebuild` in a checkout or in an installed package. It therefore uses nothing but Node itself.
//
// With `--quick` it builds in seconds what runs slower: for trying a change.

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const prebuilt = join(root, 'native', 'prebuilt');
const profile = process.argv.includes('--quick') ? 'quick' : 'release';

/**
 * Says why nothing can be built, in one line, and ends.
 * @param {string} reason
 * @returns {never}
 */
function stop(reason) {
  console.error(`forkline: ${reason}`);
  process.exit(1);
}

/**
 * Whether a tool is there and starts.
 * @param {string} program
 */
const works = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

function checkTools() {
  if (process.platform !== 'linux') {
    stop(`the native part builds on Linux only so far, not on ${process.platform}`);
  }
  if (!works('cargo')) {
    stop('cargo was not found: install Rust (https://rustup.rs), then run this again');
  }
  // CXX may hold a wrapper and flags, as in `ccache g++`; the first word is what must exist.
  const compiler = process.env.CXX?.trim().split(/\s+/)[0] || 'c++';
  if (!works(compiler)) {
    stop(`${compiler} was not found: install a C++ compiler (Debian: g++), then run this again`);
  }
}

/**
 * Runs cargo and returns the files it made. Cargo is asked for their paths, because a target
 * directory or a target triple of the user's own configuration moves them.
 */
function build() {
  const packages = ['--package', 'forkline-addon', '--package', 'forkline-keeper'];
  const cargo = spawnSync(
    'cargo',
    [
      'build',
      `--profile=${profile}`,
      '--locked',
      ...packages,
      '--message-format=json-render-diagnostics',
    ],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (cargo.status !== 0) stop('cargo could not build the native part; its errors are above');
  return cargo.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((message) => message.reason === 'compiler-artifact')
    .flatMap((message) => /** @type {string[]} */ (message.filenames));
}

/**
 * Replaces a file by renaming: a process that has the old one loaded keeps it whole.
 * @param {string} source
 * @param {string} name
 */
function install(source, name) {
  const temporary = join(prebuilt, `.${name}.${process.pid}`);
  copyFileSync(source, temporary);
  chmodSync(temporary, 0o755);
  renameSync(temporary, join(prebuilt, name));
}

/** The C library Node itself runs on, as the names of prebuilt binaries spell it. */
function libc() {
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (
    process.report.getReport()
  );
  return report.header.glibcVersionRuntime ? 'gnu' : 'musl';
}

checkTools();
const names = new Map([
  ['libforkline_addon.so', `forkline.${process.platform}-${process.arch}-${libc()}.node`],
  ['forkline-keeper', 'forkline-keeper'],
]);
const built = build();
mkdirSync(prebuilt, { recursive: true });
for (const [file, name] of names) {
  const source = built.find((path) => basename(path) === file);
  if (!source) stop(`cargo did not build ${file}`);
  install(source, name);
}
