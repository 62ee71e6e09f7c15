import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// What git obeys is protected wherever git's directory lies, and wherever hooks and configurations do.
leavesNothingBehind(40);
const folders = useFolders();

const outside = (cwd: string, script: string): string =>
  execFileSync('sh', ['-ec', script], {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_CONFIG_COUNT: '3',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'a',
      GIT_CONFIG_KEY_1: 'user.email',
      GIT_CONFIG_VALUE_1: 'a@b',
      GIT_CONFIG_KEY_2: 'protocol.file.allow',
      GIT_CONFIG_VALUE_2: 'always',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Makes a repository `src` with a commit, and a directory beside it in which a script is run. */
function workspace(script: string): string {
  const top = folders();
  outside(top, 'git init -q -b main src; cd src; echo 1 > file; git add .; git commit -qm first');
  outside(top, `mkdir work; cd work; ${script}`);
  return join(top, 'work');
}

/** The directories of a repository that is no directory `.git`. */
const LAYOUTS = [
  [
    '.bare',
    "git clone -q --bare ../src .bare; echo 'gitdir: ./.bare' > .git; git worktree add -q main",
  ],
  ['.store', 'git init -q --separate-git-dir=.store .; git commit -q --allow-empty -m first'],
  [
    '.store',
    'git init -q .; mv .git .store; ln -s .store .git; git commit -q --allow-empty -m first',
  ],
] as const;

test.each(LAYOUTS)('a git directory %s is protected', async (name, script) => {
  const work = workspace(script);
  const command = `printf '#!/bin/sh\\ntouch %s/ran\\n' "$PWD" > .git-hook; chmod +x .git-hook
    cp .git-hook ${name}/hooks/post-index-change; git -C ${name} config core.fsmonitor 'touch ran'; git config user.name b
    mkdir -p main; cd main; git -c user.email=a@b commit -q --allow-empty -m next`;
  const { sandbox, heldBack, outcome } = await run(command, {
    cwd: work,
    sandbox: 'workspace-write',
  });
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(sandbox?.enforced.settings).toBe('gate');
  expect(sandbox?.unseen).toBeUndefined();
  expect(heldBack.map(({ path }) => path)).toEqual([
    join(work, name, 'hooks/post-index-change'),
    join(work, name, 'config'),
  ]);
  expect(readFileSync(join(work, name, 'config'), 'utf8')).toContain('name = b');
  expect(existsSync(join(work, name, 'hooks/post-index-change'))).toBe(false);
  const another =
    'rm -f .git; mv .git other; mv -T main .git; ln -sfn main .git; git init -q --bare x; mv -T x .git; true';
  await run(another, { cwd: work, sandbox: 'workspace-write' });
  expect(outside(work, 'realpath "$(git rev-parse --git-dir)"')).toBe(`${join(work, name)}\n`);
  expect(
    outside(join(work, existsSync(join(work, 'main')) ? 'main' : '.'), 'git log --format=%s -1'),
  ).toBe('next\n');
});

test('a `.git` file that leads nowhere but to what a command has made protects that', async () => {
  const work = workspace('git init -q --bare other; echo "gitdir: ../src/.git" > .git');
  const { sandbox } = await run('true', { cwd: work, sandbox: 'workspace-write' });
  expect(sandbox?.enforced.settings).toBe('none');
});

const husky = 'mkdir -p own; echo true > own/post-commit; git add .; git commit -qm own';

test.each([
  [
    'a relative directory in a linked worktree',
    '.',
    `git clone -q ../src ../main; cd ../main; ${husky}; git config core.hooksPath own; rmdir ../work; git worktree add -q ../work`,
    'own/post-commit',
  ],
  [
    'a relative directory in a submodule',
    '.',
    `git init -q .; git submodule add -q ../src sub; cd sub; ${husky}; git config core.hooksPath own`,
    'sub/own/post-commit',
  ],
  [
    'a relative directory in a worktree within',
    '.',
    `git clone -q ../src .; ${husky}; git config core.hooksPath own; git worktree add -q tree`,
    'tree/own/post-commit',
  ],
  [
    'a directory that an included file names',
    '.',
    `git clone -q ../src .; ${husky}; printf '[core]\\n\\thooksPath = own\\n' > ../included; git config includeIf.onbranch:main.path ../../included`,
    'own/post-commit',
  ],
  [
    'the target of a link',
    '.',
    `git clone -q ../src .; ${husky}; rm -r .git/hooks; ln -s ../own .git/hooks`,
    'own/post-commit',
  ],
  [
    'the target of a link to a hook',
    '.',
    `git clone -q ../src .; ${husky}; ln -s ../../own/post-commit .git/hooks/post-commit`,
    'own/post-commit',
  ],
])('hooks are kept: %s', async (_, at, script, hook) => {
  const work = workspace(script);
  const { sandbox } = await run(`echo evil >> ${hook}; true`, {
    cwd: join(work, at),
    sandbox: 'workspace-write',
  });
  expect(readFileSync(join(work, hook), 'utf8')).toBe('true\n');
  expect(sandbox?.denials.map(({ target }) => target)).toEqual([join(work, hook)]);
});

test("hooks are kept that the user's own configuration names", async () => {
  const work = workspace(`git clone -q ../src .; ${husky}`);
  const config = join(work, '../user');
  outside(work, `git config -f ${config} core.hooksPath own`);
  const before = process.env.GIT_CONFIG_GLOBAL;
  process.env.GIT_CONFIG_GLOBAL = config;
  try {
    await run('echo evil >> own/post-commit; true', { cwd: work, sandbox: 'workspace-write' });
  } finally {
    if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL;
    else process.env.GIT_CONFIG_GLOBAL = before;
  }
  expect(readFileSync(join(work, 'own/post-commit'), 'utf8')).toBe('true\n');
});
