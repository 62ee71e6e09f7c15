// Builds the addon and the keeper into the directory where src/engine/addon/binding.ts looks first:
// native/prebuilt/<platform>-<arch>-<libc>; or, with --far, the far side without Node, which is static,
// into native/prebuilt/far-<platform>-<arch>.
//
//     node scripts/build-native.mjs [--quick] [--far] [--target TRIPLE]
//
// One script for every caller: `npm ci` (prepare), `npm run build:native`, `npx node-gyp rebuild`.
//
// --quick builds slower code in seconds: for trying a change. --target builds for another
// machine, or for older ones of this kind (x86_64-unknown-linux-gnu.2.28), with zig as its linker:
// `pip install cargo-zigbuild ziglang`, `rustup target add TRIPLE`.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// As CommonJS, file by file: an import opens all of its hundreds of files at once.
const { NapiCli, parseTriple } = /** @type {typeof import('@napi-rs/cli')} */ (
  createRequire(import.meta.url)('@napi-rs/cli')
);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, far: { type: 'boolean' }, target: { type: 'string' } },
});

/**
 * Prints in one line why nothing can be built, and exits.
 * @param {string} reason
 * @returns {never}
 */
function stop(reason) {
  console.error(`forkline: ${reason}`);
  process.exit(1);
}

/**
 * Returns whether a tool exists and starts.
 * @param {string} program
 * @param {readonly string[]} args
 */
const works = (program, args = ['--version']) =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

function checkTools() {
  if (process.platform !== 'linux') {
    stop(`the native part builds on Linux only so far, not on ${process.platform}`);
  }
  if (!works('cargo')) {
    stop('cargo was not found: install Rust (https://rustup.rs), then run this again');
  }
  if (values.target) {
    if (!works('cargo', ['zigbuild', '--help'])) {
      stop('cargo zigbuild was not found: pip install cargo-zigbuild ziglang, then run this again');
    }
    return;
  }
  // CXX may hold a wrapper and flags, as in `ccache g++`; the first word is what must exist.
  const compiler = process.env.CXX?.trim().split(/\s+/)[0] || 'c++';
  if (!works(compiler)) {
    stop(`${compiler} was not found: install a C++ compiler (Debian: g++), then run this again`);
  }
}

/** Returns the C library of Node itself, as the names of prebuilt binaries spell it. */
function libc() {
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (
    process.report.getReport()
  );
  return report.header.glibcVersionRuntime ? 'gnu' : 'musl';
}

checkTools();
const profile = values.quick ? 'quick' : 'release';
const machine = values.target
  ? // Without the version of glibc that may stand at its end.
    parseTriple(values.target.replace(/\.[\d.]+$/, '')).platformArchABI
  : `${process.platform}-${process.arch}-${libc()}`;
const [, platform, arch] = /^(\w+)-(\w+)/.exec(machine) ?? [];
const musl = `${arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;
const common = {
  cwd: root,
  outputDir: join(root, 'native', 'prebuilt', machine),
  profile,
  cargoOptions: ['--locked'],
  ...(values.target && { target: values.target, crossCompile: true }),
};
const napi = new NapiCli();
/** @type {Parameters<InstanceType<typeof NapiCli>['build']>[0][]} */
const parts = [
  { manifestPath: 'native/addon/Cargo.toml', platform: true, noJsBinding: true },
  { manifestPath: 'native/keeper/Cargo.toml', bin: 'forkline-keeper' },
];
for (const part of values.far ? [] : parts) {
  const { task } = await napi.build({ ...common, ...part });
  await task.catch(() => stop('cargo could not build the native part; its errors are above'));
}

if (values.far && !hasTarget(musl)) stop(`Rust can't build for musl: rustup target add ${musl}`);
if (values.far) buildFar(musl, `far-${platform}-${arch}`);

/**
 * Returns whether Rust can build for the target.
 * @param {string} target
 */
function hasTarget(target) {
  const args = ['--print', 'target-libdir', '--target', target];
  const { stdout } = spawnSync('rustc', args, { encoding: 'utf8' });
  return existsSync(stdout?.trim() ?? '');
}

/**
 * Builds the far side by cargo itself, since it is static: napi links every build for musl to the musl of
 * the machine.
 * @param {string} target
 * @param {string} folder
 */
function buildFar(target, folder) {
  const build = values.target ? 'zigbuild' : 'build';
  const args = [build, '--locked', '--package', 'forkline-far', '--profile', profile];
  const variable = target.replaceAll('-', '_');
  // Its only C++ is the code between clone and exec, which any compiler for this processor can build: it
  // uses system calls, and nothing that only glibc has.
  const compiler = {
    [`CXX_${variable}`]: process.env.CXX || 'c++',
    [`CXXFLAGS_${variable}`]: '-U_FORTIFY_SOURCE -fno-stack-protector',
  };
  const { status } = spawnSync('cargo', [...args, '--target', target], {
    cwd: root,
    stdio: 'inherit',
    env: { ...(values.target ? {} : compiler), ...process.env },
  });
  if (status !== 0) stop('cargo could not build the far side; its errors are above');
  const made = join(root, 'native', 'prebuilt', folder);
  mkdirSync(made, { recursive: true });
  // Replaces a file that may be running.
  rmSync(join(made, 'forkline-far'), { force: true });
  copyFileSync(
    join(targetDirectory(), target, profile, 'forkline-far'),
    join(made, 'forkline-far'),
  );
}

/** Returns cargo's directory for built files. */
function targetDirectory() {
  const args = ['metadata', '--format-version', '1', '--no-deps', '--offline'];
  const { stdout } = spawnSync('cargo', args, { cwd: root, encoding: 'utf8' });
  return JSON.parse(stdout).target_directory;
}
