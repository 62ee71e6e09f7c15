import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

// What a command sets leads the user's own git to no repository that a command can make.
leavesNothingBehind(20);
const folders = useFolders();
const sandbox = 'workspace-write';

const EVIL = `git init -q --bare evil.git; printf '#!/bin/sh\\ntouch %s/ran\\n' "$PWD" > evil.git/hooks/pre-receive
  chmod +x evil.git/hooks/pre-receive`;

/** Makes a repository with a commit, whose remote is elsewhere, and a link beside it that leads to it. */
function repository(): { readonly top: string; readonly work: string } {
  const top = folders();
  const work = join(top, 'work');
  const script = `git init -q -b main work; git init -q --bare remote.git; cd work
    git config user.name a; git config user.email a@b; git remote add origin ${top}/remote.git
    git commit -q --allow-empty -m first; git push -q origin main`;
  execFileSync('sh', ['-c', script], { cwd: top, stdio: 'ignore' });
  symlinkSync('work', join(top, 'link'));
  return { top, work };
}

/** What the user does afterwards. */
function pushOutside(work: string): void {
  const script =
    'git commit -q --allow-empty -m next; git push; git push origin main; git push o; true';
  execFileSync('sh', ['-c', script], { cwd: work, stdio: 'ignore' });
}

const url = (address: string) => `git remote set-url origin "${address}"`;
const remotes = (name: string) =>
  `mkdir -p .git/remotes; printf 'URL: %s/evil.git\\nPush: refs/heads/main\\n' "$PWD" > .git/remotes/${name}`;

test.each([
  ['a link of the system', url('/var/run/..$PWD/evil.git')],
  ['up from a name', url('/bin/..$PWD/evil.git')],
  ['a link of the user', url('TOP/link/evil.git')],
  ['the directory of the process that reads it', url('/proc/self/cwd/evil.git')],
  ['that directory by a link', url('/dev/fd/../../self/cwd/evil.git')],
  ['a name that git completes', url('$PWD/evil')],
  ['a scheme', url('file:///var/run/..$PWD/evil.git')],
  ['an address to push to', 'git config remote.origin.pushurl "/var/run/..$PWD/evil.git"'],
  ['a branch', 'git config branch.main.pushRemote "TOP/link/evil.git"'],
  ['a file in `remotes`', `${remotes('h:x')}; git config branch.main.pushRemote h:x`],
  ['a file in `remotes` alone', `${remotes('o')}; ${remotes('origin')}; git remote remove origin`],
  [
    'a renamed one',
    `mkdir -p .git/remotes; ${remotes('o').replace('remotes/o', 'r')}; mv .git/r .git/remotes/o`,
  ],
  ['a file in `branches`', 'mkdir -p .git/branches; echo "$PWD/evil.git#main" > .git/branches/o'],
])('%s leads to no repository of a command', async (_, command) => {
  const { top, work } = repository();
  const { heldBack } = await run(`${EVIL}; ${command.replaceAll('TOP', top)}`, {
    cwd: work,
    sandbox,
  });
  expect(heldBack.length).toBeGreaterThan(0);
  pushOutside(work);
  expect(existsSync(join(work, 'ran'))).toBe(false);
});

test('what no command can make may be reached by a link', async () => {
  const { top, work } = repository();
  symlinkSync('remote.git', join(top, 'to-remote'));
  const command = `set -e; ${url(`${top}/to-remote`)}; git remote add o file://${top}/not-yet.git
    mkdir -p .git/branches; git submodule add -q --name a https://127.0.0.1:9/x y || git config submodule.a.url ../a`;
  const { heldBack, outcome } = await run(command, { cwd: work, sandbox });
  expect([heldBack, outcome]).toMatchObject([[], { exitCode: 0 }]);
  expect(readFileSync(join(work, '.git/config'), 'utf8')).toContain(`url = ${top}/to-remote\n`);
});
