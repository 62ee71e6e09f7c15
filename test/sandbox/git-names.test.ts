import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  give,
  makeScene,
  type Person,
  people,
  type Scene,
  useScenes,
} from '../support/sandbox.js';
import { byGitNames } from './ways/by-git-names.js';

leavesNothingBehind();
const scenes = useScenes();

/** Runs a program outside, as somebody. */
function outsideAs(person: Person, cwd: string, script: string): string {
  const [program = '', ...args] = [...as(person), 'sh', '-c', script];
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const IDENTITY = 'git -c user.name=a -c user.email=a@b -c protocol.file.allow=always';

/** A repository with a worktree, a submodule, a configuration and hooks elsewhere in it. */
function makeRepository(person: Person): Scene {
  const scene = makeScene(scenes.path, person);
  const script = `exec 2>/dev/null
    git init -q ../part && ${IDENTITY} -C ../part commit -q --allow-empty -m part
    echo 1 > file; mkdir own-hooks; touch included; git add -A
    ${IDENTITY} submodule add -q --name deep/sub ../part sub; ${IDENTITY} commit -qm first
    git worktree add -q tree; git config core.hooksPath own-hooks; git config include.path ../included; git config extensions.worktreeConfig true
    cp .git/config ../config; cp -r .git/hooks ../hooks; true`;
  outsideAs(person, scene.work, script);
  return scene;
}

/** What its user does in the repository afterwards, and whether anything was started by it or is changed. */
function isObeyed(person: Person, { work, outside }: Scene): string[] {
  const script = `for d in . tree sub; do (cd $d && git status; git diff; git log -1; echo 2 > new; git add -A;
    ${IDENTITY} commit -m next; git fetch; git gc --auto); done; git submodule status; true`;
  outsideAs(person, work, script);
  const got: string[] = [];
  if (existsSync(`${outside}/ran`)) got.push('a program was started');
  if (readFileSync(`${outside}/file`, 'utf8') !== 'before\n') got.push('a file was written to');
  const config = readFileSync(`${work}/.git/config`, 'utf8');
  if (config !== readFileSync(`${work}/../config`, 'utf8')) got.push('the configuration');
  for (const name of [
    'commondir',
    'config.worktree',
    'gitdir',
    'objects/info/alternates',
    'info/attributes',
  ]) {
    if (existsSync(`${work}/.git/${name}`)) got.push(name);
  }
  return got;
}

test('S2: git obeys each of these files, where no sandbox protects them', () => {
  const scene = makeRepository(people[0]);
  const ways = byGitNames(scene);
  const of = (name: string) => ways.find((way) => way.name === name)?.command ?? '';
  for (const name of [
    'names another common directory by opening',
    'appends to the configuration',
  ]) {
    outsideAs(people[0], scene.work, of(name));
  }
  expect(isObeyed(people[0], scene)).toContain('a program was started');
});

describeForAll('%s', (person) => {
  /** Runs commands, one after the other, as somebody. */
  function runner() {
    // Where changes are held back: without a place for them, all would be read-only.
    const state = `${scenes.path}/state-of-${person.replaceAll(' ', '-')}`;
    if (!existsSync(state)) {
      mkdirSync(state);
      give(person, state);
    }
    const env = { HOME: scenes.path, XDG_STATE_HOME: state };
    const host = startHost('commands', { under: as(person), env });
    const end = async () => {
      host.child.stdin?.end();
      await host.ended;
    };
    return { run: host.run, end };
  }
  let host: ReturnType<typeof runner>;
  beforeEach(() => {
    host = runner();
  });
  afterEach(() => host.end());

  const nowhere: Scene = { home: '/h', work: '/w', outside: '/o' };
  const names = byGitNames(nowhere).map(({ name }, index) => ({ name, index }));
  test.each(names)('S2, S9: a command $name in vain', async ({ index }) => {
    const scene = makeRepository(person);
    const { command = '' } = byGitNames(scene)[index] ?? {};
    const options = { cwd: scene.work, sandbox: 'workspace-write', timeoutMs: 20_000 };
    const { error } = await host.run(`{ ${command}\n} 2>&1; true`, options);
    expect(error).toBeUndefined();
    expect(isObeyed(person, scene)).toEqual([]);
  });

  test("S2: a worktree's commands cannot write the main repository's files or a sibling's", async () => {
    const scene = makeRepository(person);
    const { work, outside } = scene;
    outsideAs(person, work, `git worktree add -q ${outside}/own`);
    const command = `cd ${outside}/own && echo 1 > f && git add f && ${IDENTITY} commit -qm in && git log --format=%s -1
      for n in commondir config.worktree config hooks/x worktrees/tree/commondir worktrees/own/gitdir; do echo /x > ${work}/.git/$n; done`;
    const { result } = await host.run(command, {
      cwd: `${outside}/own`,
      sandbox: 'workspace-write',
    });
    const text = result?.output.kind === 'complete' ? result.output.text : '';
    expect(text).toMatch(/^in\n/);
    // The others are written elsewhere, and judged when they are closed.
    expect(text.match(/Read-only file system/g)).toHaveLength(1);
    expect(isObeyed(person, scene)).toEqual([]);
  });

  test('S3: the user configures git while a command runs, and the files stay protected', async () => {
    const scene = makeRepository(person);
    const { work, outside } = scene;
    const command = `touch begun; for i in $(seq 200); do printf '[core]\\n\\tfsmonitor = touch ${outside}/ran\\n' >> .git/config
      [ -e over ] && break; sleep 0.02; done 2>/dev/null; echo evil >> .git/config; true`;
    const running = host.run(command, { cwd: work, sandbox: 'workspace-write', timeoutMs: 20_000 });
    await expect.poll(() => existsSync(`${work}/begun`), { timeout: 10_000 }).toBe(true);
    for (let index = 0; index < 20; index++) {
      outsideAs(
        person,
        work,
        `git config branch.b${index}.remote origin; cp .git/config ../config`,
      );
    }
    writeFileSync(`${work}/over`, '');
    await running;
    expect(readFileSync(`${work}/.git/config`, 'utf8')).not.toContain('evil');
    expect(isObeyed(person, scene)).toEqual([]);
  });

  test('S10: a repository that is made anew is protected like the first one', async () => {
    const scene = makeRepository(person);
    const { work } = scene;
    const options = { cwd: work, sandbox: 'workspace-write' };
    await host.run('true', options);
    outsideAs(person, work, `rm -rf .git && git init -q . && cp .git/config ../config`);
    const { result } = await host.run(
      'echo x > .git/hooks/x; echo x >> .git/config; touch f && git add f',
      options,
    );
    expect(result?.sandbox?.denials.length).toBeGreaterThan(0);
    expect(isObeyed(person, scene)).toEqual([]);
    expect(existsSync(`${work}/.git/hooks/x`)).toBe(false);
  });

  test('S10: a workspace that is removed and made anew is writable', async () => {
    const { work } = makeScene(scenes.path, person);
    const options = { cwd: work, sandbox: 'workspace-write' };
    const write = 'echo x > f && cat f';
    expect((await host.run(write, options)).result).toMatchObject({ output: { text: 'x\n' } });
    execFileSync('rm', ['-rf', work]);
    mkdirSync(work);
    if (person === 'an ordinary user') execFileSync('chown', ['65534:65534', work]);
    expect((await host.run(write, options)).result).toMatchObject({ output: { text: 'x\n' } });
  });
});
