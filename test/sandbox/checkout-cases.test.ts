import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  COMMIT,
  git,
  inSandbox,
  KEEPING,
  MOVE,
  makeRepository,
  noticeOf,
  write,
} from '../support/checkouts.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { people, runDetachedAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const [me] = people;
const program = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

describe('U3', () => {
  test('the end of a detached command reports it, to the process that started it', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const scene = { home: join(work, '../home'), work, outside: join(work, '../outside') };
    const options = { cwd: work, sandbox: KEEPING };
    const { receipt } = await runDetachedAs(me, scene, MOVE, options);
    expect(receipt?.sandbox?.incomplete).toMatchObject([{ path: '.npmrc', changed: ['.npmrc'] }]);
  });

  test.each([
    'git commit -qam fix',
    'git checkout -q -b another && git commit -qam fix',
    'git add a && git commit -qm fix && git reset -q --soft HEAD~1',
    'git stash -q -- a && git stash pop -q',
  ])("a user's own change is not reported: %s", async (command) => {
    const work = makeRepository(scenes, '.npmrc');
    write(work, '.npmrc', 'own\n');
    const result = await inSandbox(work, `echo fix > a && ${command}`);
    expect(result.outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(result.sandbox?.incomplete).toBe(undefined);
  });

  test("a user's own change is reported where git should have overwritten it", async () => {
    const work = makeRepository(scenes, '.npmrc');
    write(work, '.npmrc', 'own\n');
    const result = await inSandbox(work, 'git checkout -qf release');
    expect(result.sandbox?.incomplete).toMatchObject([{ path: '.npmrc', changed: ['.npmrc'] }]);
  });

  test('a file that a commit only removes from the index is not reported', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const result = await inSandbox(work, 'git rm -q --cached .npmrc && git commit -qm out');
    expect(result.outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(result.sandbox?.incomplete).toBe(undefined);
  });

  test('a complete checkout is not reported, wherever HEAD moves', async () => {
    const work = makeRepository(scenes, 'settings');
    write(work, '.npmrc', 'main\n');
    git(work, 'add', '.');
    git(work, 'commit', '-qm', 'settings');
    git(work, 'branch', '-qf', 'other');
    const result = await inSandbox(
      work,
      `git checkout -q other && ${COMMIT} && git checkout -q main`,
    );
    expect(result.outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(result.sandbox).not.toHaveProperty('incomplete');
    expect(result.sandbox).not.toHaveProperty('unseen');
  });

  test('a detached HEAD is reported by its commit, and an undone wrong commit again', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const moved = await inSandbox(work, 'git checkout -q --detach release');
    const release = git(work, 'rev-parse', 'release');
    expect(noticeOf(moved)).toContain(`git checkout -f ${release.slice(0, 12)} -- .npmrc`);
    await inSandbox(work, COMMIT);
    const undone = await inSandbox(work, 'git reset -q --soft HEAD~1');
    expect(undone.sandbox?.incomplete).toMatchObject([{ path: '.npmrc', changed: ['.npmrc'] }]);
  });

  test('a commit on a branch that was left again is reported', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const result = await inSandbox(work, `${MOVE} && ${COMMIT} && git checkout -q main`);
    const commit = git(work, 'rev-parse', 'release');
    expect(result.sandbox?.incomplete).toMatchObject([{ recorded: [{ commit, isHead: false }] }]);
    expect(noticeOf(result)).toMatch(/should not be pushed, but made anew outside\.$/);
  });

  test('a change that is only in the index is reported', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const result = await inSandbox(work, 'git checkout release -- .');
    expect(result.sandbox?.incomplete).toMatchObject([{ head: 'main', staged: ['.npmrc'] }]);
    const [, remedy = ''] = /`([^`]+)`/.exec(noticeOf(result) ?? '') ?? [];
    execFileSync('sh', ['-c', remedy], { cwd: work, stdio: 'ignore' });
    expect(readFileSync(join(work, '.npmrc'), 'utf8')).toBe('release\n');
  });

  test('files of a directory are reported one by one', async () => {
    const work = makeRepository(scenes, '.vscode/settings.json');
    git(work, 'checkout', '-q', 'release');
    write(work, '.vscode/tasks.json', '{}\n');
    git(work, 'add', '.');
    git(work, 'commit', '-qm', 'tasks');
    git(work, 'checkout', '-q', 'main');
    const result = await inSandbox(work, MOVE);
    expect(result.sandbox?.incomplete).toMatchObject([
      { path: '.vscode', changed: ['.vscode/settings.json', '.vscode/tasks.json'], leftover: [] },
    ]);
  });

  test.each(['a directory', 'a link'])('a name that becomes %s is reported', async (what) => {
    const work = makeRepository(scenes, '.npmrc');
    git(work, 'checkout', '-q', '-b', 'other', 'without');
    if (what === 'a link') symlinkSync('a', join(work, '.npmrc'));
    else write(work, '.npmrc/file', 'x\n');
    git(work, 'add', '.');
    git(work, 'commit', '-qm', 'other');
    git(work, 'checkout', '-q', 'main');
    const moved = await inSandbox(work, 'git checkout -q other');
    // Git refuses a directory before it moves HEAD.
    const hasMoved = git(work, 'rev-parse', '--abbrev-ref', 'HEAD') === 'other';
    expect(moved.outcome).toMatchObject({ exitCode: hasMoved ? 0 : 128 });
    const told = moved.sandbox?.incomplete?.map(({ path }) => path);
    expect(told).toEqual(hasMoved ? ['.npmrc'] : undefined);
  });

  test('a working tree beside the repository has a HEAD of its own', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const other = join(work, '../other');
    git(work, 'worktree', 'add', '-q', '-b', 'beside', other, 'main');
    const result = await inSandbox(other, MOVE);
    expect(result.sandbox?.incomplete).toMatchObject([{ path: '.npmrc', head: 'release' }]);
    expect(noticeOf(await inSandbox(other, COMMIT))).toContain('has the old files');
  });

  test("a branch's name is quoted in the advice", async () => {
    const work = makeRepository(scenes, '.npmrc');
    git(work, 'branch', '-q', '-m', 'release', 'a;$(id)');
    const result = await inSandbox(work, "git checkout -q 'a;$(id)'");
    expect(noticeOf(result)).toContain("`git checkout -f 'a;$(id)' -- .npmrc`");
  });

  test('without a log of HEAD, a move is reported by itself', async () => {
    const work = makeRepository(scenes, '.npmrc');
    git(work, 'config', 'core.logAllRefUpdates', 'false');
    rmSync(join(work, '.git/logs'), { recursive: true });
    const moved = await inSandbox(work, MOVE);
    expect(moved.sandbox?.incomplete).toMatchObject([{ path: '.npmrc', changed: ['.npmrc'] }]);
  });

  test("programs that git's configuration names are not run", async () => {
    const work = makeRepository(scenes, '.npmrc');
    git(work, 'config', 'core.fsmonitor', 'touch monitored; false');
    git(work, 'config', 'core.pager', 'touch paged; cat');
    await inSandbox(work, 'git -c core.fsmonitor=false checkout -q release');
    expect(['monitored', 'paged'].filter((one) => existsSync(join(work, one)))).toEqual([]);
  });

  test('no git is run after a command that moved nothing, or without protected names', async () => {
    const looksAfter = async (file: string, command: string): Promise<number> => {
      const work = makeRepository(scenes, file);
      const calls = join(work, 'calls');
      const programs = join(work, '../programs');
      write(programs, 'git', `#!/bin/sh\necho "$*" >> ${calls}\nexec ${program} "$@"\n`);
      chmodSync(join(programs, 'git'), 0o755);
      const env = { PATH: `${programs}:${process.env.PATH}` };
      await inSandbox(work, `:> calls; ${command}`, env);
      return readFileSync(calls, 'utf8').match(/--no-optional-locks/g)?.length ?? 0;
    };
    expect(await looksAfter('.npmrc', 'echo fix > a; git diff; cat .npmrc')).toBe(0);
    expect(await looksAfter('.npmrc', MOVE)).toBeGreaterThan(0);
    expect(await looksAfter('settings', MOVE)).toBe(0);
  });

  test('the advice for a denied name that git may have wanted to replace is not to leave it', async () => {
    const work = makeRepository(scenes, '.npmrc');
    const args = [
      { contract: 'modes', cwd: work, sandbox: KEEPING },
      { command: 'git merge -q release' },
      { command: 'echo x > .git/hooks/pre-commit' },
    ];
    const [merged, written] = await runHost<{ text: string }[]>('tools', {
      args: args.map((each) => JSON.stringify(each)),
    });
    expect(merged?.text).toContain('commit none of that');
    expect(merged?.text).not.toContain('Leave it as it is');
    expect(written?.text).toContain('Leave it as it is');
  });
});
