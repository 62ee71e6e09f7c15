// Puts together what is published, in a directory of its own: so nothing that a release needs (the
// optionalDependencies, the platform packages) is ever written into the checkout, and nothing stale
// in dist/ is packed. It needs no network.

import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// As CommonJS, file by file: an import opens all of its hundreds of files at once.
const { NapiCli, parseTriple } = /** @type {typeof import('@napi-rs/cli')} */ (
  createRequire(import.meta.url)('@napi-rs/cli')
);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const prebuilt = join(root, 'native', 'prebuilt');
const KEEPER = 'forkline-keeper';
const FAR = 'forkline-far';

/** @typedef {{ main: string, platforms: string[], fars: string[] }} Staged Directories, each a package. */

/**
 * Stages the main package, a package for each machine that there are binaries for, and one for each kind
 * of processor with the far side without Node, which nobody gets who does not ask for it.
 *
 * @param {string} staging An empty directory.
 * @param {{ all?: boolean, publish?: boolean }} [options] `all`: refuse when a machine's are missing.
 *   `publish`: also publish the platform packages.
 * @returns {Promise<Staged>}
 */
export async function stage(staging, { all = false, publish = false } = {}) {
  const manifest = read(root);
  const targets = /** @type {string[]} */ (manifest.napi.targets);
  const built = targets.filter((target) => fs.existsSync(join(prebuilt, machineOf(target))));
  const farMachines = targets.filter((target) => target.endsWith('-musl')).map(farOf);
  const fars = farMachines.filter((machine) => fs.existsSync(join(prebuilt, machine)));
  const isWhole = built.length === targets.length && fars.length === farMachines.length;
  if (built.length === 0 || (all && !isWhole)) {
    const missing = [
      ...targets.filter((target) => !built.includes(target)).map(machineOf),
      ...farMachines.filter((machine) => !fars.includes(machine)),
    ];
    throw new Error(`native/prebuilt lacks ${missing.join(', ')}: 'npm run build' comes first`);
  }
  stageMain(staging, manifest, built);
  const napi = new NapiCli();
  await napi.createNpmDirs({ cwd: staging });
  await napi.artifacts({ cwd: staging, outputDir: gather(staging, built) });
  const platforms = built.map((target) => completePlatform(staging, machineOf(target)));
  // Names the platform packages in the main one's optionalDependencies.
  await napi.prePublish({ cwd: staging, skipOptionalPublish: !publish, ghRelease: false });
  const { napi: _, ...final } = read(staging);
  write(staging, final);
  return {
    main: staging,
    platforms,
    fars: fars.map((machine) => stageFar(staging, machine, final)),
  };
}

/** @param {string} target such as `x86_64-unknown-linux-gnu` */
const machineOf = (target) => parseTriple(target).platformArchABI;

/** @param {string} target */
const farOf = (target) => `far-${parseTriple(target).platform}-${parseTriple(target).arch}`;

/**
 * The main package, with TypeScript compiled anew. The checkout's scripts stay behind: npm warns
 * about a `prepare` in what it installs, although it never runs one there. So does "gypfile": no
 * binding.gyp is published, since other package managers build wherever they see one.
 * @param {string} staging
 * @param {Record<string, unknown> & { files: string[], napi: object }} manifest
 * @param {readonly string[]} targets
 */
function stageMain(staging, manifest, targets) {
  const { scripts, devDependencies, gypfile, workspaces, ...published } = manifest;
  for (const name of ['README.md', 'LICENSE', ...manifest.files]) {
    // dist/ is made anew.
    if (name !== 'dist') copy(join(root, name), join(staging, name));
  }
  const build = [join(root, 'scripts', 'build-ts.mjs'), join(staging, 'dist')];
  // What it says goes to stderr: stdout is for a list of tarballs.
  execFileSync(process.execPath, build, { cwd: root, stdio: ['ignore', 2, 2] });
  write(staging, { ...published, ...home(), napi: { ...manifest.napi, targets } });
}

/**
 * Copies a file or a folder, and refuses when there is none: npm would leave it out without a word.
 * @param {string} from
 * @param {string} to
 */
function copy(from, to) {
  if (!fs.existsSync(from)) throw new Error(`${from} is missing`);
  fs.cpSync(from, to, { recursive: true });
}

/**
 * Where the sources are and faults are told: known only where the release is made, which is also
 * what a provenance statement is about.
 */
function home() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  if (!server || !repository) return {};
  const url = `${server}/${repository}`;
  return {
    homepage: `${url}#readme`,
    bugs: `${url}/issues`,
    repository: { type: 'git', url: `git+${url}.git` },
  };
}

/**
 * A directory with the addons of these machines alone.
 * @param {string} staging
 * @param {readonly string[]} targets
 */
function gather(staging, targets) {
  const directory = join(staging, 'artifacts');
  for (const machine of targets.map(machineOf)) {
    const name = `forkline.${machine}.node`;
    copy(join(prebuilt, machine, name), join(directory, name));
  }
  return directory;
}

/**
 * What napi does not know of a platform package: the keeper, and what it is.
 * @param {string} staging
 * @param {string} machine
 */
function completePlatform(staging, machine) {
  const directory = join(staging, 'npm', machine);
  const manifest = read(directory);
  copy(join(prebuilt, machine, KEEPER), join(directory, KEEPER));
  copy(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  write(directory, {
    ...manifest,
    type: 'commonjs',
    description: `The binaries of forkline for ${machine}.`,
    files: [...manifest.files, KEEPER],
  });
  fs.writeFileSync(
    join(directory, 'README.md'),
    `# ${manifest.name}\n\n` +
      `The binaries of forkline for ${machine}: the addon that Node loads, and \`${KEEPER}\`,\n` +
      'the process that runs the commands. It ends what a dead agent leaves, and keeps detached\n' +
      'commands.\n\n' +
      'Do not install this package yourself: `npm install forkline` brings it where it fits.\n',
  );
  return directory;
}

/**
 * A package that installs anywhere: its file is for where it is copied to.
 * @param {string} staging
 * @param {string} machine such as `far-linux-x64`
 * @param {Record<string, unknown>} main
 */
function stageFar(staging, machine, main) {
  const directory = join(staging, 'npm', machine);
  const { version, license, homepage, bugs, repository, publishConfig, keywords } = main;
  const name = `@forkline/${machine}`;
  copy(join(prebuilt, machine, FAR), join(directory, FAR));
  copy(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  write(directory, {
    name,
    version,
    description: 'The far side of forkline/remote for images without Node.',
    ...{ keywords, license, homepage, bugs, repository, publishConfig },
    files: [FAR],
  });
  fs.writeFileSync(
    join(directory, 'README.md'),
    `# ${name}\n\n` +
      `\`${FAR}\`, one static program: \`forkline serve --stdio\` for images without Node. It has \`run()\`\n` +
      'and `spawn()`; see docs/remote.md of forkline, whose version must be the same.\n',
  );
  return directory;
}

/** @param {string} directory */
const read = (directory) => JSON.parse(fs.readFileSync(join(directory, 'package.json'), 'utf8'));

/**
 * @param {string} directory
 * @param {object} manifest
 */
const write = (directory, manifest) =>
  fs.writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
