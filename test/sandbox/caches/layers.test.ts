import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import {
  as,
  describeForAll,
  give,
  makeScene,
  type Person,
  runAs,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';

// Commands find the user's caches, and change only a layer of their workspace.
leavesNothingBehind();
const scenes = useScenes();

/** Variables of this machine that would decide where caches are. */
const OWN = Object.fromEntries(
  ['XDG_CACHE_HOME', 'CARGO_HOME', 'GOPATH', 'GOCACHE', 'PNPM_HOME'].map((name) => [
    name,
    undefined,
  ]),
);

/** A scene whose user has a warm cache of each kind that stays as it is. */
function sceneWith(person: Person): Scene {
  const scene = makeScene(scenes.path, person);
  for (const cache of ['.cache/tool', '.npm/_cacache', '.cargo/registry']) {
    mkdirSync(join(scene.home, cache), { recursive: true });
    writeFileSync(join(scene.home, cache, 'warm'), `${cache}\n`);
  }
  give(person, scene.home);
  return scene;
}

/** All names and contents of the caches that a user has outside, as one sum. */
function sumOf({ home }: Scene): string {
  const sum = createHash('sha256');
  for (const cache of ['.cache', '.npm', '.cargo']) {
    const files = readdirSync(join(home, cache), { recursive: true, withFileTypes: true });
    for (const file of files.sort((one, two) =>
      one.parentPath + one.name < two.parentPath + two.name ? -1 : 1,
    )) {
      const path = join(file.parentPath, file.name);
      sum.update(path).update(file.isFile() ? readFileSync(path) : '');
    }
  }
  return sum.digest('hex');
}

/** Layers are removed, and looked at again, by a process beside the sandbox. */
const PATIENCE = { timeout: 20_000 };

const layersOf = ({ home }: Scene) => join(home, '.local/state/forkline/caches');

describeForAll('%s', (person) => {
  const ask = async (
    scene: Scene,
    command: string,
    sandbox: unknown = 'workspace-write',
    more: object = {},
  ) => {
    const options = { cwd: scene.work, sandbox, ...more };
    return runAs(person, scene, `set -e; ${command}`, options, OWN);
  };

  test('the caches of the user are warm, what commands write stays for the next host, and the user has neither', async () => {
    const scene = sceneWith(person);
    const before = sumOf(scene);
    const { text, result } = await ask(
      scene,
      `cat ~/.cache/tool/warm ~/.npm/_cacache/warm ~/.cargo/registry/warm
      echo cold >~/.cache/tool/warm; rm ~/.npm/_cacache/warm; mkdir ~/.npm/new; echo new >~/.npm/new/file
      rm -r ~/.cargo/registry/*; mkdir -p ~/.cargo/git; echo $npm_config_cache`,
    );
    expect(text).toBe(`.cache/tool\n.npm/_cacache\n.cargo/registry\n${join(scene.home, '.npm')}\n`);
    expect(result.sandbox?.enforced.caches).toBe('overlay');
    expect(result.sandbox?.denials).toEqual([]);
    const again = await ask(
      scene,
      'cat ~/.cache/tool/warm ~/.npm/new/file; ls -A ~/.npm/_cacache ~/.cargo/registry | grep -v :',
    );
    expect(again.text.trim()).toBe('cold\nnew');
    expect(sumOf(scene)).toBe(before);
  });

  test('another workspace sees nothing of it, and no command sees the layers', async () => {
    const scene = sceneWith(person);
    await ask(scene, 'echo poison >~/.cache/tool/warm; echo poison >~/.npm/file');
    const other = { ...scene, work: join(scene.work, '../other') };
    mkdirSync(other.work);
    give(person, other.work);
    const { text } = await ask(
      other,
      'cat ~/.cache/tool/warm; ls ~/.npm; ls ~/.local/state/forkline/caches 2>&1 || true',
    );
    expect(text).toMatch(/^\.cache\/tool\n_cacache\nls: .*(?:Permission denied|No such file).*\n$/);
  });

  test('a workspace that is another directory at the same path begins anew', async () => {
    const scene = sceneWith(person);
    await ask(scene, 'echo own >~/.cache/tool/own');
    execFileSync('mv', [scene.work, `${scene.work}-before`]);
    mkdirSync(scene.work);
    give(person, scene.work);
    const { text } = await ask(scene, 'ls ~/.cache/tool');
    expect(text).toBe('warm\n');
  });

  test('no second name of a file in a cache can be made in the workspace', async () => {
    const scene = sceneWith(person);
    const before = sumOf(scene);
    const { text } = await ask(
      scene,
      `ln ~/.cache/tool/warm linked 2>&1 || true; cp --reflink=auto ~/.cache/tool/warm copied; echo x >>copied
      echo new >~/.cache/tool/new; ln ~/.cache/tool/new linked 2>&1 || true`,
    );
    expect(text.match(/cross-device/gi)).toHaveLength(2);
    expect(sumOf(scene)).toBe(before);
  });

  test('caches that the user does not have are the own of the workspace, and stay', async () => {
    const scene = makeScene(scenes.path, person);
    const places =
      '~/.m2/repository ~/.m2/wrapper ~/.gradle/caches ~/go/pkg/mod ~/.bun/install/cache ~/.yarn/berry ~/.local/share/pnpm/store ~/.cargo/git';
    await ask(
      scene,
      `for each in ${places} $XDG_CACHE_HOME $npm_config_cache; do mkdir -p $each; echo mine >$each/file; done`,
    );
    const { text } = await ask(
      scene,
      `for each in ${places} $XDG_CACHE_HOME $npm_config_cache; do cat $each/file; done`,
    );
    expect(text).toBe('mine\n'.repeat(10));
    expect(readdirSync(scene.home).sort()).toEqual(['.local', '.ssh']);
  });

  test('a cache that the user makes later is theirs, with a layer over it', async () => {
    const scene = makeScene(scenes.path, person);
    await ask(scene, 'mkdir ~/.m2/repository; echo own >~/.m2/repository/file');
    mkdirSync(join(scene.home, '.m2/repository'), { recursive: true });
    writeFileSync(join(scene.home, '.m2/repository/theirs'), 'theirs\n');
    give(person, scene.home);
    const { text } = await ask(
      scene,
      'cat ~/.m2/repository/theirs; echo x >~/.m2/repository/theirs',
    );
    expect(text).toBe('theirs\n');
    expect(readFileSync(join(scene.home, '.m2/repository/theirs'), 'utf8')).toBe('theirs\n');
  });

  test('sandboxes of one workspace at the same time read what the others have written', async () => {
    const scene = sceneWith(person);
    const env = { HOME: scene.home, XDG_STATE_HOME: '', npm_config_cache: undefined, ...OWN };
    const host = startHost('commands', { under: as(person), env });
    const said = async (command: string, sandbox: object) => {
      const { result, error } = await host.run(command, { cwd: scene.work, sandbox });
      if (error !== undefined) throw new Error(error.message);
      return result?.output.kind === 'complete' ? result.output.text : '';
    };
    const policies = ['none', 'full'].flatMap((network) =>
      ['own', 'host'].map((processes) => ({ network, processes })),
    );
    for (const [index, policy] of policies.entries()) {
      await said(`echo ${index} >~/.npm/_cacache/${index}`, policy);
    }
    for (const policy of policies) {
      await expect
        .poll(() => said('cd ~/.npm/_cacache; cat [0-9]', policy), PATIENCE)
        .toBe('0\n1\n2\n3\n');
    }
    const fifth = { network: 'none', filesystem: { tmp: 'shared' } };
    expect(await said('cat ~/.npm/_cacache/warm; echo x >~/.npm/_cacache/warm', fifth)).toBe(
      '.npm/_cacache\n',
    );
    host.child.stdin?.end();
    await host.ended;
    const { text } = await ask(scene, 'cat ~/.npm/_cacache/[0-9]');
    expect(text).toBe('0\n1\n2\n3\n');
  });

  test('a cache with a hidden path in it is an empty one, and one that is hidden stays so', async () => {
    const scene = sceneWith(person);
    const sandbox = { filesystem: { denyRead: ['~/.cache/tool/warm', '~/.npm'] } };
    const { text } = await ask(
      scene,
      'ls -A $XDG_CACHE_HOME; cat ~/.cache/tool/warm 2>&1 || true; ls ~/.npm 2>&1 || true',
      sandbox,
    );
    expect(text).toMatch(/^cat: .*Permission denied\n/);
    expect(text).not.toContain('_cacache');
  });

  test('what a command has linked to is no cache, nor is a place where it writes', async () => {
    const scene = sceneWith(person);
    symlinkSync(scene.outside, join(scene.work, 'link'));
    const cache = { XDG_CACHE_HOME: join(scene.work, 'link') };
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const command = 'echo x >$XDG_CACHE_HOME/file; echo $XDG_CACHE_HOME';
    const { text } = await runAs(person, scene, command, options, { ...OWN, ...cache });
    expect(text).not.toContain(scene.work);
    expect(readdirSync(scene.outside)).toEqual(['file']);
    expect(readFileSync(join(scene.outside, 'file'), 'utf8')).toBe('before\n');
  });

  test('none: nothing is layered, and nothing is kept', async () => {
    const scene = sceneWith(person);
    const command = 'echo $XDG_CACHE_HOME $npm_config_cache; echo x >~/.cache/tool/warm';
    for (const sandbox of [{ caches: 'none' }, 'read-only', { require: 'best-effort' }]) {
      const { text, result } = await ask(scene, command, sandbox);
      expect(text).toMatch(/^\/tmp\/\.cache \/tmp\/\.npm\n.*Read-only file system\n$/);
      expect(result.sandbox?.enforced.caches).toBe('none');
    }
    expect(existsSync(layersOf(scene))).toBe(false);
  });

  test('layers beyond their bound go when no sandbox of the workspace stands, the oldest first', async () => {
    const scene = sceneWith(person);
    const before = sumOf(scene);
    const sandbox = { caches: { maxBytes: 3_000_000 } };
    const fill = 'head -c 2000000 /dev/zero';
    // Directories that can't be written to are made by Go.
    await ask(
      scene,
      `mkdir ~/.cache/old ~/.cache/new; ${fill} >~/.cache/old/file; ${fill} >~/.cache/new/file
      touch -ad 2001-01-01 ~/.cache/old/file; touch -md 2001-01-01 ~/.cache/old/file; touch -d 2001-01-01 ~/.cache/old
      chmod 500 ~/.cache/old`,
      sandbox,
    );
    await expect
      .poll(() => ask(scene, 'ls ~/.cache', sandbox).then(({ text }) => text), PATIENCE)
      .toBe('new\ntool\n');
    expect(sumOf(scene)).toBe(before);
  });

  test('nothing is left of layers in which nothing was written, nor of those of a workspace that is gone', async () => {
    const scene = sceneWith(person);
    await ask(scene, 'cat ~/.cache/tool/warm');
    await expect.poll(() => readdirSync(layersOf(scene)), PATIENCE).toEqual([]);
    await ask(scene, 'echo x >~/.cache/file');
    execFileSync('rm', ['-r', scene.work]);
    const other = { ...scene, work: join(scene.work, '../other') };
    mkdirSync(other.work);
    give(person, other.work);
    await ask(other, 'true');
    await expect.poll(() => readdirSync(layersOf(scene)), PATIENCE).toEqual([]);
  });

  test('where layers can be made nowhere, commands have empty caches in /tmp', async () => {
    const scene = sceneWith(person);
    mkdirSync(join(scene.home, '.local'));
    writeFileSync(join(scene.home, '.local/state'), '');
    chmodSync(join(scene.home, '.local/state'), 0o600);
    give(person, scene.home);
    const { text, result } = await ask(scene, 'echo $XDG_CACHE_HOME; cat ~/.npm/_cacache/warm');
    expect(text).toBe('/tmp/.cache\n.npm/_cacache\n');
    expect(result.sandbox?.enforced.caches).toBe('none');
  });
});
