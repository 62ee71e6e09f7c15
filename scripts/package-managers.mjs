// Tries package managers in a sandbox, each with a home of its own: cold (no cache, with the network), again (the same
// workspace, without a network), warm (a new workspace, without a network, after its user has installed the same
// outside), and whether the user's caches are what they were. Prints a table (build first). Downloads a few small
// packages, as the managers are set up on this machine:
//
//     node scripts/package-managers.mjs [NAME...]

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './vitest.mjs';

/**
 * @typedef {object} Manager
 * @property {string} program
 * @property {Readonly<Record<string, string>>} files The project, by names.
 * @property {string} install Text for bash.
 * @property {string} remove What it has installed, from the project's folder, for `rm -rf`.
 * @property {string[]} [npm] The package it is in.
 * @property {string[]} [pip] The package it is in.
 */

const manifest = JSON.stringify({
  name: 'project',
  version: '1.0.0',
  dependencies: { 'is-number': '7.0.0' },
});
const module = {
  'package.json': manifest,
};
const requirements = { 'requirements.txt': 'six==1.16.0\n' };

/** @type {Readonly<Record<string, Manager>>} */
const managers = {
  npm: {
    program: 'npm',
    files: module,
    install: 'npm install --prefer-offline',
    remove: 'node_modules',
  },
  pnpm: {
    program: 'pnpm',
    npm: ['pnpm@9'],
    files: module,
    install: 'pnpm install --prefer-offline',
    remove: 'node_modules',
  },
  yarn: {
    program: 'yarn',
    npm: ['yarn@1'],
    files: module,
    install: 'yarn install --prefer-offline --non-interactive',
    remove: 'node_modules',
  },
  bun: {
    program: 'bun',
    npm: ['bun'],
    files: module,
    install: 'bun install',
    remove: 'node_modules',
  },
  pip: {
    program: 'python3',
    files: requirements,
    install: 'python3 -m pip install --quiet --target lib -r requirements.txt',
    remove: 'lib',
  },
  uv: {
    program: 'uv',
    pip: ['uv'],
    files: requirements,
    install: 'uv pip install --target lib -r requirements.txt',
    remove: 'lib',
  },
  cargo: {
    program: 'cargo',
    files: {
      'Cargo.toml':
        '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ncfg-if = "=1.0.0"\n[workspace]\n',
      'src/lib.rs': '',
    },
    // By itself cargo asks for news of its index, whatever is in the cache.
    install: 'cargo build --quiet --offline 2>/dev/null || cargo build --quiet',
    remove: 'target',
  },
  go: {
    program: 'go',
    files: {
      'go.mod': 'module x\n\ngo 1.19\n\nrequire golang.org/x/sync v0.7.0\n',
      'x.go': 'package x\n\nimport _ "golang.org/x/sync/errgroup"\n',
    },
    install: 'GOFLAGS=-mod=mod GOTOOLCHAIN=local go build ./...',
    remove: 'vendor',
  },
};

/**
 * Hashes all that lies below a folder.
 * @param {string} folder
 */
function hashOf(folder) {
  const hash = createHash('sha256');
  /** @param {string} path */
  const look = (path) => {
    const stat = lstatSync(path);
    // There a sandbox has what is its own.
    if (path.endsWith('/.local')) return;
    hash.update(`${path}\0${stat.mode}\0`);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) look(join(path, name));
    else if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile()) hash.update(readFileSync(path));
  };
  if (existsSync(folder)) look(folder);
  return hash.digest('hex');
}

/**
 * Runs one command of a host whose home this is, in a sandbox or in none.
 * @param {string} command
 * @param {string} cwd
 * @param {string} network Empty: no sandbox.
 */
async function runHere(command, cwd, network) {
  const { run } = await import('../dist/index.js');
  const sandbox = /** @type {const} */ ({ mode: 'workspace-write', network });
  const options = { cwd, timeoutMs: 300_000, ...(network === '' ? {} : { sandbox }) };
  const { outcome, output } = await run(command, /** @type {object} */ (options));
  const text = output.kind === 'complete' ? output.text : output.tail;
  return { isDone: outcome.kind === 'exited' && outcome.exitCode === 0, text };
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--host') {
  const [command = '', cwd = '', network = ''] = rest;
  console.log(JSON.stringify(await runHere(command, cwd, network)));
  process.exit();
}

// Not below /tmp, which is the sandbox's own.
const scene = mkdtempSync(join(process.getuid?.() === 0 ? '/srv' : homedir(), 'managers-'));
const tools = join(scene, 'tools');

/**
 * @param {string} home
 * @param {readonly string[]} args
 */
function inHost(home, args) {
  const usual = process.env;
  const env = {
    ...usual,
    HOME: home,
    PATH: [join(tools, 'node_modules/.bin'), join(tools, 'bin'), usual.PATH].join(delimiter),
    RUSTUP_HOME: usual.RUSTUP_HOME ?? join(homedir(), '.rustup'),
    NPM_CONFIG_USERCONFIG: join(homedir(), '.npmrc'),
  };
  const script = fileURLToPath(import.meta.url);
  const text = execFileSync(process.execPath, [script, '--host', ...args], {
    env,
    encoding: 'utf8',
    cwd: root,
  });
  return /** @type {{ isDone: boolean, text: string }} */ (JSON.parse(text));
}

/**
 * @param {string} name
 * @param {Manager} manager
 */
function row(name, { program, files, install, remove, npm, pip }) {
  if (npm) spawnSync('npm', ['install', '--silent', '--no-save', '--prefix', tools, ...npm]);
  if (pip) {
    spawnSync('python3', ['-m', 'pip', 'install', '--quiet', '--prefix', tools, ...pip]);
  }
  const home = join(scene, name, 'home');
  // Places of caches, which every user of these programs has.
  for (const cache of ['.npm', '.cache', '.cargo', 'go']) {
    mkdirSync(join(home, cache), { recursive: true });
  }
  /** @param {string} each */
  const project = (each) => {
    const folder = join(scene, name, each);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(folder, file, '..'), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return folder;
  };
  /** @type {string[]} */
  const troubles = [];
  /** @type {(folder: string, network: string) => string} */
  const isInstalled = (folder, network) => {
    rmSync(join(folder, remove), { recursive: true, force: true });
    const { isDone, text } = inHost(home, [install, folder, network]);
    if (!isDone) troubles.push(text.trim().split('\n').slice(-3).join('\n    '));
    return isDone ? 'yes' : 'no';
  };
  const { isDone: isThere } = inHost(home, [`command -v ${program}`, scene, '']);
  if (!isThere) return { name, cold: 'not installed', troubles };
  const one = project('one');
  const before = hashOf(home);
  const cold = isInstalled(one, 'full');
  const again = isInstalled(one, 'none');
  const kept = hashOf(home) === before;
  isInstalled(project('two'), '');
  const filled = hashOf(home);
  const warm = isInstalled(project('three'), 'none');
  const same = kept && hashOf(home) === filled ? 'yes' : 'no';
  return { name, cold, again, warm, same, troubles };
}

try {
  const names = first === undefined ? Object.keys(managers) : [first, ...rest];
  console.log('| | cold | again, offline | warm, offline | caches as they were |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const name of names) {
    const manager = managers[name];
    if (manager === undefined) throw new Error(`expected one of ${Object.keys(managers)}`);
    const { cold, again = '', warm = '', same = '', troubles } = row(name, manager);
    console.log(`| ${name} | ${cold} | ${again} | ${warm} | ${same} |`);
    for (const text of troubles) console.error(`  ${name}: ${text}`);
  }
} finally {
  rmSync(scene, { recursive: true, force: true });
}
