// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  runAs,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';

// Package managers, with registries of ours: cold, warm, and without a network.
leavesNothingBehind();
const scenes = useScenes();
const files = new Map<string, Buffer | string>();
const asked: string[] = [];
let server: Server;
let packages = '';

const registry = () => `http://localhost:${(server.address() as AddressInfo).port}`;

function addNpmPackage(): void {
  const path = join(packages, 'package');
  mkdirSync(path);
  const described = { name: 'answer', version: '1.0.0', main: 'answer.js' };
  writeFileSync(join(path, 'package.json'), JSON.stringify(described));
  writeFileSync(join(path, 'answer.js'), 'module.exports = 42;\n');
  execFileSync('tar', ['-czf', 'answer.tgz', 'package'], { cwd: packages });
  const tarball = readFileSync(join(packages, 'answer.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const versions = {
    '1.0.0': { ...described, dist: { tarball: `${registry()}/answer.tgz`, integrity } },
  };
  const about = { name: 'answer', 'dist-tags': { latest: '1.0.0' }, versions };
  files.set('/answer', JSON.stringify(about));
  files.set('/answer.tgz', tarball);
}

/** A module of Go, as the protocol of its proxies has it. */
function addGoModule(): void {
  const name = 'answer.test/answer';
  const top = `${name}@v1.0.0`;
  mkdirSync(join(packages, top), { recursive: true });
  writeFileSync(join(packages, top, 'go.mod'), `module ${name}\n`);
  writeFileSync(join(packages, top, 'answer.go'), 'package answer\n\nconst Value = 42\n');
  const code = `import zipfile
with zipfile.ZipFile('go.zip', 'w') as all:
    for file in ('go.mod', 'answer.go'): all.write('${top}/' + file)`;
  execFileSync('/usr/bin/python3', ['-c', code], { cwd: packages });
  files.set(`/${name}/@v/v1.0.0.info`, '{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}');
  files.set(`/${name}/@v/v1.0.0.mod`, `module ${name}\n`);
  files.set(`/${name}/@v/v1.0.0.zip`, readFileSync(join(packages, 'go.zip')));
  files.set(`/${name}/@v/list`, 'v1.0.0\n');
}

/** A crate in a sparse index. */
function addCrate(): void {
  const top = join(packages, 'answer-1.0.0');
  mkdirSync(join(top, 'src'), { recursive: true });
  writeFileSync(
    join(top, 'Cargo.toml'),
    '[package]\nname = "answer"\nversion = "1.0.0"\nedition = "2021"\n',
  );
  writeFileSync(join(top, 'src/lib.rs'), 'pub const VALUE: u32 = 42;\n');
  execFileSync('tar', ['-czf', 'answer.crate', 'answer-1.0.0'], { cwd: packages });
  const crate = readFileSync(join(packages, 'answer.crate'));
  const cksum = createHash('sha256').update(crate).digest('hex');
  const line = { name: 'answer', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false };
  files.set('/index/config.json', JSON.stringify({ dl: `${registry()}/crates/{crate}.crate` }));
  files.set('/index/an/sw/answer', `${JSON.stringify(line)}\n`);
  files.set('/crates/answer.crate', crate);
}

beforeAll(async () => {
  server = createServer(({ url = '' }, answer) => {
    asked.push(url);
    const file = files.get(url);
    answer.statusCode = file === undefined ? 404 : 200;
    answer.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  packages = mkdtempSync(join(scenes.path, 'packages-'));
  for (const add of [addNpmPackage, addGoModule, addCrate]) add();
  execFileSync('chmod', ['-R', 'a+rX', packages]);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Work with a package manager: what it takes, and how it is done once more without asking anybody. */
interface Work {
  readonly name: string;
  readonly needs: readonly string[];
  /** Fetches a package, and prints 42 by it. */
  readonly fetch: () => string;
  /** The same from the cache alone. */
  readonly again: () => string;
  /** What has to be asked for the first time. */
  readonly path: string;
}

const QUIET = '--no-audit --no-fund --silent';
const works: readonly Work[] = [
  {
    name: 'npm',
    needs: ['npm'],
    fetch: () => `export npm_config_replace_registry_host=never
      [ -f package.json ] || echo '{"name":"x","version":"1.0.0"}' >package.json
      npm install ${QUIET} --registry ${registry()} --omit-lockfile-registry-resolved=false answer; node -p 'require("answer")'`,
    again: () => `rm -r node_modules; npm ci ${QUIET} --offline; node -p 'require("answer")'`,
    path: '/answer.tgz',
  },
  {
    name: 'go',
    needs: ['go'],
    fetch: () => `export GOPROXY=${registry()} GONOSUMDB=* GOTOOLCHAIN=local GOFLAGS=-mod=mod
      printf 'module x\\n\\nrequire answer.test/answer v1.0.0\\n' >go.mod
      printf 'package main\\n\\nimport "answer.test/answer"\\n\\nfunc main() { print(answer.Value, "\\\\n") }\\n' >m.go; go run . 2>&1 | grep -v download`,
    again: () => 'GOPROXY=off GONOSUMDB=* GOTOOLCHAIN=local GOFLAGS=-mod=mod go run . 2>&1',
    path: '/answer.test/answer/@v/v1.0.0.zip',
  },
  {
    name: 'cargo',
    needs: ['cargo'],
    fetch:
      () => `mkdir -p src .cargo; printf '[package]\\nname = "x"\\nversion = "0.1.0"\\nedition = "2021"\\n[dependencies]\\nanswer = "1"\\n[workspace]\\n' >Cargo.toml
      echo 'fn main() { println!("{}", answer::VALUE) }' >src/main.rs
      printf '[source.crates-io]\\nreplace-with = "ours"\\n[source.ours]\\nregistry = "sparse+${registry()}/index/"\\n' >.cargo/config.toml
      cargo run -q`,
    again: () => 'rm -r target; cargo run -q --offline',
    path: '/crates/answer.crate',
  },
];

function has(person: Person, program: string): boolean {
  const [shell = 'sh', ...args] = [
    ...as(person),
    'sh',
    '-c',
    'cd / && "$0" --version || "$0" version',
  ];
  return spawnSync(shell, [...args, program], { stdio: 'ignore' }).status === 0;
}

const NAMES = ['XDG_CACHE_HOME', 'CARGO_HOME', 'GOPATH', 'GOCACHE', 'GOMODCACHE', 'GOFLAGS'];
const VARIABLES = {
  ...Object.fromEntries(NAMES.map((name) => [name, undefined])),
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
};

/** All that a user has in a home but records of ours, as one sum. */
function sumOf({ home }: Scene): string {
  const all = `find . -path ./.local -prune -o -type f -print0 | sort -z | xargs -0r sha256sum | sha256sum`;
  return execFileSync('sh', ['-c', all], { cwd: home, encoding: 'utf8' });
}

describeForAll('%s', (person) => {
  const ask = async (scene: Scene, script: string, sandbox: unknown) => {
    asked.length = 0;
    const { text } = await runAs(
      person,
      scene,
      `set -e; ${script}`,
      { cwd: scene.work, sandbox },
      VARIABLES,
    );
    return text;
  };
  const possible = works.filter(({ needs }) => needs.every((program) => has(person, program)));

  test.each(possible)('$name fetches what it does not have, once', async (work) => {
    const scene = makeScene(scenes.path, person);
    expect(await ask(scene, work.fetch(), { network: 'full' })).toBe('42\n');
    expect(asked).toContain(work.path);
    expect(await ask(scene, work.again(), 'workspace-write')).toBe('42\n');
    expect(asked).not.toContain(work.path);
  });

  test.each(possible)(
    '$name finds what the user has fetched, and leaves it as it is',
    async (work) => {
      const scene = makeScene(scenes.path, person);
      const theirs = { ...scene, work: scene.outside };
      expect(await ask(theirs, work.fetch(), undefined)).toBe('42\n');
      expect(asked).toContain(work.path);
      const before = sumOf(scene);
      expect(await ask(scene, work.fetch(), { network: 'full' })).toBe('42\n');
      expect(asked).not.toContain(work.path);
      expect(sumOf(scene)).toBe(before);
    },
  );
});
