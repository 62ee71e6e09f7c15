import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { FAR_BUILT } from '../support/far.js';
import { useFolder } from '../support/leftovers.js';
import { skipFor } from '../support/needs.js';
import { execute, packEverything, type Tarballs } from './machine.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = useFolder();
let tarballs: Tarballs;

beforeAll(async () => {
  tarballs = await packEverything();
}, 300_000);

const tool = (name: string, ...args: readonly string[]) =>
  execute(join(root, 'node_modules/.bin', name), args, { cwd: folder.path, env: process.env });

const manifestOf = (tarball: string) =>
  JSON.parse(execFileSync('tar', ['xOf', tarball, 'package/package.json'], { encoding: 'utf8' }));

test('publint finds nothing to say about either package', async () => {
  for (const tarball of [tarballs.main, tarballs.platform]) {
    const { exitCode, stdout } = await tool('publint', '--strict', tarball);
    expect(stdout).toContain('All good!');
    expect(exitCode).toBe(0);
  }
});

test('I11: the types resolve in ES modules, in CommonJS, and by what is older than `exports`', async () => {
  const { exitCode, stdout } = await tool('attw', '--profile', 'strict', tarballs.main);
  expect(exitCode, stdout).toBe(0);
}, 180_000);

const filesOf = (tarball: string) =>
  execFileSync('tar', ['tf', tarball], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((path) => path.replace('package/', ''));

test('types lead nowhere but to types that are published, Node, and optional peers', () => {
  const files = filesOf(tarballs.main);
  // A framework's are there where its adapter is used.
  const known = ['node', ...Object.keys(manifestOf(tarballs.main).peerDependenciesMeta)];
  const types = files.filter((path) => /\.d\.c?ts$/.test(path));
  expect(types.length).toBeGreaterThan(50);
  for (const path of types) {
    const text = execFileSync('tar', ['xOf', tarballs.main, `package/${path}`], {
      encoding: 'utf8',
    });
    for (const [, name = ''] of text.matchAll(/\b(?:from|import\() ?'([^']+)'/g)) {
      if (name.startsWith('.')) {
        expect(files, path).toContain(
          posix.join(posix.dirname(path), name.replace(/\.(c?)js$/, '.d.$1ts')),
        );
      } else {
        const [, library = ''] = /^((?:@[^/]+\/)?[^/:]+)/.exec(name) ?? [];
        expect(known, `${path}: ${name}`).toContain(library);
      }
    }
  }
});

test('tests, and types that cannot be imported, are not published', () => {
  const files = filesOf(tarballs.main);
  const needless = files.filter((path) => /(^|\/)tests?[./]|^dist\/cli(\/|\.d)/.test(path));
  expect(needless).toEqual([]);
  expect(files).toContain('dist/cli.js');
});

test('the main package depends on the platform package of its own version', () => {
  const main = manifestOf(tarballs.main);
  const platform = manifestOf(tarballs.platform);
  // Those of other machines too, whose binaries were built here.
  expect(Object.keys(main.optionalDependencies)).toContain(platform.name);
  expect(new Set(Object.values(main.optionalDependencies))).toEqual(new Set([main.version]));
  expect(platform).toMatchObject({ version: main.version, os: ['linux'], libc: ['glibc'] });
});

test('the far side without Node is a package that any machine can install, and no package depends on', (context) => {
  const { main, far } = tarballs;
  if (far === undefined) return skipFor(context, FAR_BUILT.otherwise);
  const manifest = manifestOf(far);
  expect(manifest).not.toHaveProperty('os');
  expect(manifest).not.toHaveProperty('scripts');
  expect(manifest.version).toBe(manifestOf(main).version);
  expect(Object.keys(manifestOf(main).optionalDependencies)).not.toContain(manifest.name);
  const listed = execFileSync('tar', ['tvf', far], { encoding: 'utf8' });
  expect(listed).toMatch(/^-rwxr-xr-x .* package\/forkline-far$/m);
});

test('G1: the published packages run and compile nothing at an install', () => {
  for (const tarball of [tarballs.main, tarballs.platform]) {
    const manifest = manifestOf(tarball);
    expect(manifest).not.toHaveProperty('scripts');
    expect(manifest).not.toHaveProperty('dependencies');
    // All package managers but npm build where they see one, whatever "gypfile" says.
    expect(filesOf(tarball)).not.toContain('binding.gyp');
  }
});

test('G8: links in published files lead to published files, and no address is invented', () => {
  const files = filesOf(tarballs.main);
  const pages = files.filter((path) => path.endsWith('.md'));
  expect(pages).toContain('README.md');
  for (const page of [...pages, 'llms.txt']) {
    const text = execFileSync('tar', ['xOf', tarballs.main, `package/${page}`], {
      encoding: 'utf8',
    });
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
      expect(files, `${page}: ${link}`).toContain(posix.join(posix.dirname(page), link));
    }
  }
  const { repository, bugs, homepage } = manifestOf(tarballs.main);
  const isReleased = process.env.GITHUB_REPOSITORY !== undefined;
  expect([repository, bugs, homepage].every((each) => (each !== undefined) === isReleased)).toBe(
    true,
  );
});

test('U: the reference has a page for each entry point, with the errors that functions throw', () => {
  const files = filesOf(tarballs.main);
  const entries = Object.entries(manifestOf(tarballs.main).exports);
  const names = entries.flatMap(([name, target]) =>
    typeof target === 'string' ? [] : `docs/reference/forkline${name.slice(1)}.md`,
  );
  expect(names.length).toBeGreaterThan(10);
  expect(files).toEqual(expect.arrayContaining(['docs/reference/index.md', ...names]));
  const page = execFileSync('tar', ['xOf', tarballs.main, 'package/docs/reference/forkline.md'], {
    encoding: 'utf8',
  });
  expect(page).toContain('### run()');
  expect(page).toContain('`LaunchError`: The command could not be started');
});

test('a list of their licences comes with the libraries that are bundled', () => {
  const path = 'package/dist/THIRD-PARTY-LICENSES.txt';
  const list = execFileSync('tar', ['xOf', tarballs.main, path], { encoding: 'utf8' });
  const bundled = ['@modelcontextprotocol/server', '@xterm/headless', 'ajv', 'commander', 'unbash'];
  for (const name of [...bundled, 'zod']) {
    expect(list).toMatch(new RegExp(`^${name}(?: [\\d.]+)? \\([\\w.-]+\\)$`, 'm'));
  }
  const terms = list.split(`\n${'-'.repeat(80)}\n`).slice(1);
  for (const each of terms) expect(each).toMatch(/copyright/i);
});

test('packing writes nothing into the checkout', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('optionalDependencies');
});
