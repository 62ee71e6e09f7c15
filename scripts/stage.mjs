// Collects the published files in a directory of its own, so that nothing that a release needs (the
// optionalDependencies, the platform packages) is written into the checkout, and no old file of dist/ is
// packed. Needs no network.

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
 * Stages the main package, a package for each machine with built binaries, and one for each kind of
 * processor with the far side without Node, which is installed only on request.
 *
 * @param {string} staging An empty directory.
 * @param {{ all?: boolean, publish?: boolean }} [options] `all`: refuse when a machine's binaries are
 * missing. `publish`: also publish the platform packages.
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
 * Stages the main package, with TypeScript compiled anew and the reference made of its types. The checkout's scripts are left out, since npm
 * warns about a `prepare` in a package that it installs, although it never runs one there. So is
 * "gypfile": no binding.gyp is published, since other package managers build wherever they see one.
 * @param {string} staging
 * @param {Record<string, unknown> & { files: string[], napi: object }} manifest
 * @param {readonly string[]} targets
 */
function stageMain(staging, manifest, targets) {
  const { scripts, devDependencies, gypfile, workspaces, ...published } = manifest;
  for (const name of ['README.md', 'LICENSE', ...manifest.files]) {
    // dist/ is built anew.
    if (name !== 'dist') copy(join(root, name), join(staging, name));
  }
  const build = [join(root, 'scripts', 'build-ts.mjs'), join(staging, 'dist')];
  // The build's output goes to stderr, since stdout is for a list of tarballs.
  execFileSync(process.execPath, build, { cwd: root, stdio: ['ignore', 2, 2] });
  const reference = join(root, 'scripts', 'reference', 'markdown.mjs');
  execFileSync(process.execPath, [reference, join(staging, 'docs', 'reference')], {
    ...{ cwd: root, stdio: ['ignore', 2, 2] },
  });
  write(staging, { ...published, ...home(), napi: { ...manifest.napi, targets } });
}

/**
 * Copies a file or a folder, and fails when there is none: npm would leave it out without a message.
 * @param {string} from
 * @param {string} to
 */
function copy(from, to) {
  if (!fs.existsSync(from)) throw new Error(`${from} is missing`);
  fs.cpSync(from, to, { recursive: true });
}

/**
 * Returns the addresses of the repository and of its issues: known only where the release is made, which
 * is also the subject of a provenance statement.
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
 * Makes a directory with the addons of these machines only.
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
 * Adds the keeper and the description to a platform package, which napi does not do.
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
 * Stages a package that installs on any machine: its file is for the machine that it is copied to.
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
