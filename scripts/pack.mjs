// Packs forkline and its platform packages into a directory: `node scripts/pack.mjs <directory>`.
//
// Everything is assembled in a temporary directory, so that nothing a release needs (the
// optionalDependencies, the versions of the platform packages) is ever written into the checkout,
// and nothing stale in dist/ is packed. It needs no network. `npm publish <tarball>` releases.

import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {string} directory */
const readManifest = (directory) =>
  JSON.parse(fs.readFileSync(join(directory, 'package.json'), 'utf8'));

/**
 * @param {string} directory
 * @param {object} manifest
 */
const writeManifest = (directory, manifest) =>
  fs.writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

/**
 * Copies files of one directory into another, and refuses when one is missing: npm would leave it
 * out without a word.
 * @param {string} from
 * @param {string} to
 * @param {readonly string[]} names
 */
function copy(from, to, names) {
  for (const name of names) {
    const source = join(from, name);
    if (!fs.existsSync(source))
      throw new Error(`${source} is missing; 'npm run build' comes first`);
    fs.cpSync(source, join(to, name), { recursive: true });
  }
}

/**
 * A platform package: the manifest and README of npm/<target>, and the binaries that were built.
 * @param {string} staging
 * @param {string} target
 * @param {string} version
 */
function stagePlatform(staging, target, version) {
  const directory = join(staging, target);
  const manifest = { ...readManifest(join(root, 'npm', target)), version };
  copy(join(root, 'npm', target), directory, ['README.md']);
  copy(root, directory, ['LICENSE']);
  copy(join(root, 'native', 'prebuilt'), directory, manifest.files);
  writeManifest(directory, manifest);
  return { directory, name: manifest.name };
}

/**
 * The main package, with TypeScript compiled anew. The checkout's scripts stay behind: npm warns
 * about a `prepare` in what it installs, although it never runs one there.
 * @param {string} staging
 * @param {readonly string[]} platforms
 */
function stageMain(staging, platforms) {
  const directory = join(staging, 'main');
  const { scripts, devDependencies, ...manifest } = readManifest(root);
  // What is left out (`!`) is npm's to leave out, and dist/ is made anew.
  const sources = manifest.files.filter((/** @type {string} */ name) => !/^(!|dist$)/.test(name));
  copy(root, directory, ['README.md', 'LICENSE', ...sources]);
  const build = [join(root, 'scripts', 'build-ts.mjs'), join(directory, 'dist')];
  // What it says goes to stderr: stdout is the list of tarballs.
  execFileSync(process.execPath, build, { cwd: root, stdio: ['ignore', 2, 2] });
  manifest.optionalDependencies = Object.fromEntries(
    platforms.map((name) => [name, manifest.version]),
  );
  writeManifest(directory, manifest);
  return directory;
}

/**
 * Makes the tarball and returns its path. No scripts run: `prepare` is for a checkout.
 * @param {string} directory
 */
function pack(directory) {
  const flags = ['--silent', '--ignore-scripts', '--pack-destination', destination];
  const name = execFileSync('npm', ['pack', ...flags], { cwd: directory, encoding: 'utf8' }).trim();
  return join(destination, name);
}

const [argument] = process.argv.slice(2);
if (!argument) {
  console.error('usage: node scripts/pack.mjs <directory>');
  process.exit(2);
}
const destination = resolve(argument);
fs.mkdirSync(destination, { recursive: true });
const staging = fs.mkdtempSync(join(tmpdir(), 'forkline-pack-'));
try {
  const { version } = readManifest(root);
  const targets = fs.readdirSync(join(root, 'npm'));
  const platforms = targets.map((target) => stagePlatform(staging, target, version));
  const names = platforms.map((platform) => platform.name);
  const directories = platforms.map((platform) => platform.directory);
  for (const directory of [stageMain(staging, names), ...directories]) console.log(pack(directory));
} finally {
  fs.rmSync(staging, { recursive: true });
}
