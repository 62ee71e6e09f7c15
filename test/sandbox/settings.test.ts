import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, describeForAll, makeScene, runAs, type Scene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** The words of each held change's record. */
function held({ home }: Scene): readonly ReadonlyMap<string, readonly string[]>[] {
  const folder = join(home, '.local/state/forkline/held');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((id) => {
    const words = new Map<string, string[]>();
    const fields = readFileSync(join(folder, id, 'record'), 'utf8').split('\0');
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [word = '', value = ''] = fields.slice(at);
      words.set(word, [...(words.get(word) ?? []), value]);
    }
    return words;
  });
}

describeForAll('%s', (person) => {
  const sandbox = 'workspace-write';
  const inBox = (scene: Scene, command: string) =>
    runAs(person, scene, command, { cwd: scene.work, sandbox });
  const outside = (cwd: string, script: string): string => {
    const [program = '', ...args] = [...as(person), 'sh', '-c', script];
    const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null' };
    return execFileSync(program, args, { cwd, env, encoding: 'utf8' });
  };

  test('an inert setting goes in, byte for byte', async () => {
    const scene = makeScene(scenes.path, person);
    const twin = join(scene.outside, 'twin');
    mkdirSync(twin);
    const script =
      'git init -q .; git config user.email a@b; git remote add origin https://h/r.git; git config branch.main.remote origin';
    execFileSync('sh', ['-c', script], { cwd: twin, stdio: 'ignore' });
    const { text } = await inBox(scene, `set -e; ${script} >/dev/null; echo done`);
    expect(text).toBe('done\n');
    const config = readFileSync(join(scene.work, '.git/config'), 'utf8');
    expect(config).toBe(readFileSync(join(twin, '.git/config'), 'utf8'));
    expect(existsSync(join(scene.work, '.git/config.lock'))).toBe(false);
    expect(held(scene)).toEqual([]);
  });

  test('another one is held back with its keys, and what would have been there', async () => {
    const scene = makeScene(scenes.path, person);
    const before = readFileSync(join(scene.work, '.git/config'), 'utf8');
    const { text } = await inBox(scene, 'git config core.fsmonitor "touch x"; echo $?');
    expect(text).toContain('Permission denied');
    expect(text).toMatch(/\n4\n$/);
    expect(readFileSync(join(scene.work, '.git/config'), 'utf8')).toBe(before);
    const [record, ...others] = held(scene);
    expect(others).toEqual([]);
    expect(record?.get('path')).toEqual([join(scene.work, '.git/config')]);
    expect(record?.get('key')).toEqual(['core.fsmonitor']);
    expect(record?.get('reason')).toEqual(['setting']);
    expect(outside(scene.work, 'git status --porcelain')).not.toContain('x\n');
  });

  test('a hook that is written in place is held back before the command has ended', async () => {
    const scene = makeScene(scenes.path, person);
    const hook = '.git/hooks/pre-commit';
    const { text } = await inBox(
      scene,
      `printf '#!/bin/sh\ntouch x\n' > ${hook}; ls ${hook}; echo x > .git/hooks/own.sample`,
    );
    expect(text).toContain('No such file');
    expect(existsSync(join(scene.work, hook))).toBe(false);
    expect(readFileSync(join(scene.work, '.git/hooks/own.sample'), 'utf8')).toBe('x\n');
    expect(held(scene).map((record) => record.get('key'))).toEqual([['hooks/pre-commit']]);
  });

  test('it may be made executable at once', async () => {
    const scene = makeScene(scenes.path, person);
    const script = `/usr/bin/python3 -c "
import os
for i in range(200):
  open('.git/hooks/pre-commit', 'w').write('#!/bin/sh # %d' % i)
  os.chmod('.git/hooks/pre-commit', 0o755)"`;
    expect((await inBox(scene, `${script}; echo done`)).text).toBe('done\n');
    const modes = held(scene).map((record) => record.get('mode')?.join());
    // Each has taken the place of the one before.
    expect(modes).toEqual(['755']);
  });

  const identity = 'git -c user.name=a -c user.email=a@b -c protocol.file.allow=always';

  test('a worktree in the workspace is made, used and removed', async () => {
    const scene = makeScene(scenes.path, person);
    outside(scene.work, `${identity} commit -q --allow-empty -m first`);
    const add = `git worktree add -q tree && cd tree && echo 1 > f && git add f && ${identity} commit -qm in`;
    const { text } = await inBox(scene, `{ ${add} && git log --format=%s -1; } 2>&1`);
    expect(text).toBe('in\n');
    const admin = join(scene.work, '.git/worktrees/tree');
    expect(readFileSync(join(admin, 'commondir'), 'utf8')).toBe('../..\n');
    expect(readFileSync(join(admin, 'gitdir'), 'utf8')).toBe(`${scene.work}/tree/.git\n`);
    expect(outside(scene.work, 'git -C tree status --porcelain')).toBe('');
    const { text: removed } = await inBox(scene, 'git worktree remove tree 2>&1');
    expect([removed, existsSync(admin), held(scene)]).toEqual(['', false, []]);
  });

  test('a worktree elsewhere is not taken away', async () => {
    const scene = makeScene(scenes.path, person);
    outside(
      scene.work,
      `${identity} commit -q --allow-empty -m first; git worktree add -q ${scene.outside}/own`,
    );
    await inBox(scene, `git worktree remove --force ${scene.outside}/own 2>&1`);
    expect(
      outside(`${scene.outside}/own`, 'git status --porcelain; git branch --show-current'),
    ).toBe('own\n');
  });

  test('a submodule is added, moved, taken out and put in again, with the same configuration', async () => {
    const scene = makeScene(scenes.path, person);
    const part = join(scene.outside, 'part');
    outside(scene.outside, `git init -q part; ${identity} -C part commit -q --allow-empty -m part`);
    const work = [
      `${identity} submodule add -q --name deep/part ${part} sub`,
      `${identity} commit -qm sub`,
      'git mv sub moved',
      `${identity} commit -qm moved`,
      'git submodule --quiet deinit -f moved',
      `${identity} submodule --quiet update --init`,
    ].join(' && ');
    const { text } = await inBox(scene, `{ ${work}; } 2>&1`);
    const twin = join(scene.outside, 'twin');
    outside(scene.outside, `git init -q twin && cd twin && ${work}`);
    expect([text, held(scene)]).toEqual(['', []]);
    for (const name of ['.git/config', '.git/modules/deep/part/config', 'moved/.git']) {
      expect(readFileSync(join(scene.work, name), 'utf8')).toBe(
        readFileSync(join(twin, name), 'utf8'),
      );
    }
    const { text: refused } = await inBox(scene, 'git -C moved config core.editor x 2>&1');
    expect(refused).toContain('Permission denied');
    expect(held(scene).map((record) => record.get('key'))).toEqual([['core.editor']]);
  });

  test('held again, it is kept once', async () => {
    const scene = makeScene(scenes.path, person);
    await inBox(scene, 'for i in 1 2 3; do git config core.pager less; done');
    expect(held(scene)).toHaveLength(1);
  });
});

describe('without a home', () => {
  test('settings are read-only', async () => {
    const scene = makeScene(scenes.path, 'a user');
    const variables = { HOME: '/' };
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { text } = await runAs('a user', scene, 'git config user.email a@b', options, variables);
    expect(text).toContain('could not write config file .git/config: Read-only file system');
  });
});
