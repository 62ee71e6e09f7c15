import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { gitProgram } from '../../src/sandbox/git/judged.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, makeScene, people, type Scene, useScenes } from '../support/sandbox.js';
import { acrossCommands } from './ways/across-commands.js';
import { byGitNames } from './ways/by-git-names.js';

leavesNothingBehind();
const scenes = useScenes();
const [somebody] = people;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The first cells of the table in docs/security.md. */
function rows(): string[] {
  const text = readFileSync(`${root}/docs/security.md`, 'utf8');
  const [, section = ''] = text.split('## What rights are derived from');
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  return lines
    .filter((line) => /^\| [^-]/.test(line))
    .slice(1)
    .map((line) => line.split(' | ')[0]?.slice(2) ?? '');
}

const nowhere: Scene = { home: '/h', work: '/w', outside: '/o' };
const known = new Set([...acrossCommands(nowhere), ...byGitNames(nowhere)].map(({ name }) => name));

/** By row: the ways of the two other suites that write it first, or the tests below. */
const tried: Readonly<Record<string, readonly string[]>> = {
  'the workspace (`cwd`, `workspace`)': ['a link for the directory that it starts in'],
  'directories above it': ['a link for a directory above the one that it starts in'],
  '`filesystem.allowWrite`': [
    'a link for what may be written to below what may be',
    'a link for what may be written to and was not there',
    'a chain of links for what may be written to, by another place that may be',
  ],
  '`filesystem.allowRead`': ['a link to keys for what may be read'],
  '`allowUnixSockets`': ['below: a socket'],
  '`filesystem.denyRead`, `filesystem.denyWrite`': [
    'another directory by the name of one with something hidden',
    'a second name of something hidden',
  ],
  '`.git` as a link': ['a link to others for `.git`', 'a link to everything for `.git`'],
  '`.git` as a file': [
    'a `.git` file that names others as they are',
    'a false submodule that names itself',
  ],
  '`commondir` and `gitdir` of a worktree': [
    'a false worktree that names others',
    "edits a worktree's common directory",
  ],
  '`core.worktree` of a submodule': ["edits a submodule's configuration"],
  '`core.hooksPath`, `core.fsmonitor`, `core.attributesFile`, `include.path`': [
    'a configuration that has others written to as its hooks',
    'edits a configuration that is included',
    'makes a hook where hooks are configured to be',
  ],
  "forkline's own files, loaded or started as the host goes on": ['below: own files'],
  'the files of `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS`, by which the proxy of [secrets](sandbox.md#secrets) trusts':
    ['below: trusted roots'],
  '`~/.ssh`, `~/.docker`, `~/.gnupg`, and the sockets of [agents](sandbox.md#keys)': [
    'keys/public-files.test.ts',
  ],
  'the references of a repository, by whose history changes to settings are judged': [
    'settings-history.test.ts',
  ],
  "git's objects, by which that history is read": ['settings-history.test.ts'],
  "the `git` of the host's `PATH`, which reads them": ['below: another git'],
  "the programs of [rules](exec.md) in the host's `PATH`": ['exec/entries.test.ts'],
  'the rc file of a `shellSnapshot`': ['snapshot.test.ts'],
  'what names [caches](sandbox.md#caches): variables, `~/.npmrc`, `~/.m2/settings.xml`, `go env -w`, links':
    ['below: caches'],
  '`HOME`, `TMPDIR` and all other variables': ['below: variables'],
};

test('for each source of rights, a command writes it first', () => {
  expect(Object.keys(tried)).toEqual(rows());
  const names = Object.values(tried).flat();
  expect(names.filter((name) => !known.has(name) && !/^below: |\.test\.ts$/.test(name))).toEqual(
    [],
  );
});

/** Runs commands in one host, and returns what they printed. */
async function said(
  scene: Scene,
  commands: readonly (readonly [command: string, options: object])[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly from?: string } = {},
): Promise<string[]> {
  const env = { HOME: scene.home, ...options.env };
  const host = startHost('commands', { ...options, under: as(somebody), env });
  const texts: string[] = [];
  for (const [command, given] of commands) {
    const { result, error } = await host.run(command, { cwd: scene.work, ...given });
    texts.push(error?.message ?? (result?.output.kind === 'complete' ? result.output.text : ''));
  }
  host.child.stdin?.end();
  await host.ended;
  return texts;
}

test("a socket: a link in its place leads to no other process's socket", async () => {
  const scene = makeScene(scenes.path, somebody);
  const sandbox = { allowUnixSockets: ['service.sock'] };
  const connect = `/usr/bin/python3 -c "
import os, socket
s = socket.socket(socket.AF_UNIX)
s.settimeout(2)
try:
  s.connect('service.sock'); print('CONNECTED')
except OSError as error: print(error)"`;
  const listen = `/usr/bin/python3 -c "
import socket, time
s = socket.socket(socket.AF_UNIX); s.bind('${scene.outside}/s'); s.listen(); print('up', flush=True); time.sleep(20)"`;
  const texts = await said(scene, [
    ['true', { sandbox }],
    [`(${listen}) >/dev/null 2>&1 & until [ -S ${scene.outside}/s ]; do sleep 0.02; done`, {}],
    [`ln -s ${scene.outside}/s service.sock`, { sandbox }],
    [connect, { sandbox }],
    [connect.replace('service.sock', `${scene.outside}/s`), {}],
  ]);
  expect(texts[3]).toMatch(/Permission denied/);
  expect(texts[4]).toBe('CONNECTED\n');
});

test('caches: settings and links that a command has written give no right where they lead', async () => {
  const scene = { ...makeScene(scenes.path, somebody) };
  const options = { cwd: scene.home, sandbox: 'workspace-write' };
  const xml = `<settings><localRepository>${scene.outside}</localRepository></settings>`;
  const write = `mkdir -p ~/.m2 ~/.config/go; echo '${xml}' >~/.m2/settings.xml; ln -s ${scene.outside} ~/.gradle
    echo GOMODCACHE=${scene.outside} >~/.config/go/env; ln -s ${scene.outside} ~/.npm`;
  await said(scene, [[write, options]]);
  const use = `echo evil >${scene.outside}/file; echo evil >~/.gradle/new; echo evil >~/.npm/new
    cat $npm_config_cache/new; echo over`;
  const [text] = await said(scene, [[use, options]]);
  expect(text).toMatch(/over\n$/);
  expect(readdirSync(scene.outside)).toEqual(['file']);
  expect(readFileSync(`${scene.outside}/file`, 'utf8')).toBe('before\n');
});

test('own files: the package in a workspace is not written to, replaced or moved', async () => {
  const scene = makeScene(scenes.path, somebody);
  const place = `${scene.work}/deep/forkline`;
  mkdirSync(place, { recursive: true });
  for (const part of ['dist', 'native/prebuilt', 'package.json', 'test/support/hosts']) {
    cpSync(`${root}/${part}`, `${place}/${part}`, { recursive: true });
  }
  execFileSync('cp', ['-r', '--reflink=auto', `${root}/node_modules/@xterm`, `${place}/`]);
  execFileSync('chmod', ['-R', 'a+rwX', `${scene.work}/deep`]);
  const command = `for f in dist/index.js native/prebuilt/*/forkline-keeper; do echo evil > deep/forkline/$f; rm -f deep/forkline/$f; done
    mv deep/forkline/dist deep/d2; mv deep/forkline/native/prebuilt deep/p2; mv deep/forkline deep/f2; mv deep d3; echo over`;
  const [text = ''] = await said(scene, [[command, { sandbox: 'workspace-write' }]], {
    from: place,
  });
  expect(text).toMatch(/Read-only file system.*over\n$/s);
  for (const path of ['dist/index.js', 'native/prebuilt'])
    expect(existsSync(`${place}/${path}`)).toBe(true);
  expect(readFileSync(`${place}/dist/index.js`, 'utf8')).toBe(
    readFileSync(`${root}/dist/index.js`, 'utf8'),
  );
});

test('trusted roots: a file in the workspace with certificates that the proxy trusts is protected', async () => {
  const scene = makeScene(scenes.path, somebody);
  writeFileSync(`${scene.work}/roots.pem`, '');
  writeFileSync(`${scene.work}/more.pem`, '');
  execFileSync('chmod', ['a+rw', `${scene.work}/roots.pem`, `${scene.work}/more.pem`]);
  const env = {
    SSL_CERT_FILE: `${scene.work}/roots.pem`,
    NODE_EXTRA_CA_CERTS: `${scene.work}/more.pem`,
  };
  const secrets = { TOKEN: { value: 'a-very-long-secret-value', domains: ['example.com'] } };
  const command = 'echo evil > roots.pem; rm -f more.pem; mv roots.pem r2; ls';
  const [text = ''] = await said(scene, [[command, { sandbox: { secrets } }]], { env });
  expect(text).toMatch(/roots\.pem: Read-only.*more\.pem.*roots\.pem\n/s);
  expect(readFileSync(`${scene.work}/roots.pem`, 'utf8')).toBe('');
});

test("variables: a command's variables do not affect its host", async () => {
  const scene = makeScene(scenes.path, somebody);
  const command = `export HOME=${scene.work} TMPDIR=${scene.outside} XDG_CONFIG_HOME=/; echo x > ~/.bashrc`;
  const next = `cat ${scene.home}/.ssh/id_rsa; echo x > ${scene.outside}/new`;
  const sandbox = 'workspace-write';
  const [, text = ''] = await said(scene, [
    [command, { sandbox }],
    [next, { sandbox }],
  ]);
  expect(text).toMatch(/(?:Permission denied|No such file).*Read-only file system/s);
});

test('another git: one in the workspace reads no history', () => {
  const { work } = makeScene(scenes.path, somebody);
  mkdirSync(`${work}/bin`);
  const path = process.env.PATH;
  const git = gitProgram([]);
  writeFileSync(`${work}/bin/git`, '#!/bin/sh\n', { mode: 0o755 });
  process.env.PATH = `${work}/bin:${path}`;
  try {
    expect(gitProgram([])).toBe(`${work}/bin/git`);
    expect(gitProgram([work])).toBe(git);
  } finally {
    process.env.PATH = path;
  }
});
