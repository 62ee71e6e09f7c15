import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { exited, printed } from '../support/results.js';
import { answerTo, textOf, useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const repository = useFolder();
beforeAll(() => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository.path });
  git('init', '-q');
  git('config', 'user.name', 'A');
  git('config', 'user.email', 'a@example.org');
  for (let count = 1; count <= 60; count += 1) {
    git('commit', '-q', '--allow-empty', '-m', `commit ${count}`);
  }
  writeFileSync(repository.file('new'), 'new\n');
  git('add', 'new');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const head = () =>
  execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repository.path, encoding: 'utf8' });
const newTool = useWorkspaceTools(repository);

test('F1: reading stdin gets EOF at once', async () => {
  const result = await run('cat; read x; echo rc=$?; python3 -c "input()" 2>&1 | tail -1');
  expect(printed(result)).toMatch(/^rc=1\nEOFError/);
});

test('F1: input that is given is read to its end', async () => {
  const input = 'one\ntwo – drei';
  expect(printed(await run('cat', { input }))).toBe(input);
  const bytes = new Uint8Array(300_000).fill(0x61);
  expect(printed(await run('wc -c', { input: bytes }))).toBe('300000\n');
});

test('F1: input that is not read does not keep the command', async () => {
  const result = await run('exec <&-; echo done', { input: 'x'.repeat(1_000_000) });
  expect(result.outcome).toEqual(exited(0));
  expect(printed(result)).toBe('done\n');
});

test('F2: there is no controlling terminal for a prompt', async () => {
  const result = await run('cat </dev/tty');
  expect(result.outcome).toEqual(exited(1));
  expect(printed(result)).toContain('/dev/tty: No such device or address');
});

test('F2: a program that asks for a password fails at once', async () => {
  const ask = `python3 -W ignore -c 'import getpass; getpass.getpass()'`;
  const result = await run(ask, { timeoutMs: 30_000 });
  expect(result.outcome).toEqual(exited(1));
  expect(printed(result)).toContain('EOFError');
});

test('F2: the command leads a session of its own', async () => {
  const result = await run("cut -d' ' -f1,5,6,7 /proc/self/stat; echo $$");
  const [, group, session, terminal] = printed(result).split(/\s/);
  expect([group, session, terminal]).toEqual([String(result.pid), String(result.pid), '0']);
});

test.each(['EDITOR', 'VISUAL', 'GIT_EDITOR'])(
  'F3: a commit without a message fails fast and says why, with %s=vi in the host',
  async (name) => {
    vi.stubEnv(name, 'vi');
    const before = head();
    const answer = await newTool().execute({ command: 'git commit', timeout: 30 });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain('No editor is available here');
    expect(head()).toBe(before);
  },
);

test.each(['git rebase -i HEAD~3', 'git commit --amend --allow-empty', 'git rebase -i --root'])(
  'F3: %s never rewrites history silently',
  async (command) => {
    const before = head();
    const answer = await newTool().execute({ command: `git stash -q; ${command}`, timeout: 30 });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain('No editor is available here');
    expect(head()).toBe(before);
    execFileSync('git', ['stash', 'pop', '-q'], { cwd: repository.path });
  },
);

test('F3: a commit with a message works', async () => {
  const before = head();
  const command = 'git commit -q --allow-empty -m message && git log -1 --format=%s';
  expect(await answerTo(newTool(), { command })).toMatch(/^message\n/);
  expect(head()).not.toBe(before);
});

test('F4: git log is not paged, whatever the host and the repository say', async () => {
  vi.stubEnv('PAGER', 'less');
  vi.stubEnv('GIT_PAGER', 'less');
  execFileSync('git', ['config', 'core.pager', 'echo PAGED'], { cwd: repository.path });
  const answer = await answerTo(newTool(), { command: 'git var GIT_PAGER; git log --oneline' });
  expect(answer).toMatch(/^cat\n/);
  expect(answer).toContain('commit 1\n');
  expect(answer).not.toContain('PAGED');
});

test.each(['PAGER', 'MANPAGER', 'SYSTEMD_PAGER', 'GH_PAGER', 'BAT_PAGER'])(
  'F4: %s is cat, and the terminal dumb',
  async (name) => {
    vi.stubEnv(name, 'less');
    vi.stubEnv('TERM', 'xterm-256color');
    const command = `echo "$${name} $TERM"`;
    expect(await answerTo(newTool(), { command })).toMatch(/^cat dumb\n/);
  },
);
