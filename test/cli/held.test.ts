import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.js';
import { heldIn, holdBack, useState } from '../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
const folders = useFolders();
// The command line keeps the state of its caller.
useState(() => state.path);

async function held(
  ...args: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await cli('held', ...args);
  return { code, stdout: stdout.toString(), stderr };
}

test('held changes are listed, shown, accepted and dropped, by their ids and their paths', async () => {
  const folder = folders();
  expect(await held()).toEqual({ code: 0, stdout: 'ID  AGO  PATH  WHY\n', stderr: '' });
  const path = join(folder, '.git/config');
  mkdirSync(join(folder, '.git'));
  writeFileSync(path, 'a\n');
  const config = holdBack(state.path, {
    ...{ path, was: 'a\n', content: 'a\nb\u001b[2J\tc\n', keys: ['core.fsmonitor', 'alias.x'] },
  });
  const other = join(folder, 'a\tb/.mcp.json');
  const settings = holdBack(state.path, { path: other, reason: 'unknown-content', content: '{}' });
  const { stdout } = await held();
  const [headings, one, two] = stdout.split('\n');
  expect(headings).toMatch(/^ID {16}AGO +PATH +WHY$/);
  expect(one).toMatch(
    new RegExp(`^${config} {2}\\d+s +${path} +setting: core\\.fsmonitor, alias\\.x$`),
  );
  expect(two).toContain(`${folder}/a\\x09b/.mcp.json`);
  expect(two).toMatch(/ unknown-content$/);
  const told = JSON.parse((await held('--json', '--workspace', join(folder, '.git'))).stdout);
  expect(told).toMatchObject([{ id: config, path, diff: expect.stringContaining('+b') }]);

  const diff = await held('show', path);
  expect(diff).toMatchObject({ code: 0, stderr: '' });
  expect(diff.stdout).toMatch(/\n a\n\+b\\x1b\[2J\tc\n$/);
  expect(await held('accept', path)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(path, 'utf8')).toBe('a\nb\u001b[2J\tc\n');
  expect(await held('drop', settings)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(existsSync(join(heldIn(state.path), settings))).toBe(false);
  expect((await held()).stdout).toBe('ID  AGO  PATH  WHY\n');
});

test('several changes of one file are accepted in the order of time', async () => {
  const path = join(folders(), 'config');
  const was = '[core]\n\tbare = true\n';
  writeFileSync(path, was);
  for (const [at, key] of ['b', 'c', 'd'].entries()) {
    holdBack(state.path, { path, was, content: `${was}[a]\n\t${key} = ${at}\n`, at: 5 - at });
  }
  expect(await held('accept', path)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(path, 'utf8')).toBe(`${was}[a]\n\td = 2\n\tc = 1\n\tb = 0\n`);
});

test("git's directory has the name that it has in a repository, wherever it is", async () => {
  const folder = folders();
  const [main, tree] = [join(folder, 'main'), join(folder, 'tree')];
  execFileSync('git', ['init', '-q', main]);
  const commit = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty'];
  execFileSync('git', ['-C', main, ...commit, '-m', 'x']);
  execFileSync('git', ['-C', main, 'worktree', 'add', '-q', tree]);
  mkdirSync(join(main, 'packages/one'), { recursive: true });
  symlinkSync(main, join(folder, 'link'));
  const config = join(main, '.git/config');
  const id = holdBack(state.path, { path: config, content: 'shown\n' });
  for (const place of [main, tree, join(main, 'packages/one'), join(folder, 'link')]) {
    const { code, stdout } = await held('show', join(place, '.git/config'));
    expect([code, stdout]).toEqual([0, expect.stringContaining('+shown')]);
  }
  expect(await held('drop', id)).toMatchObject({ code: 0 });
});

test('all changes of a workspace are dropped, and what cannot be read by its id', async () => {
  const [folder, other] = [folders(), folders()];
  const bad = holdBack(state.path, { path: join(folder, 'x'), version: '2' });
  for (const name of ['a', 'b']) holdBack(state.path, { path: join(folder, name) });
  const kept = holdBack(state.path, { path: join(other, 'c') });
  const ids = () => readdirSync(heldIn(state.path)).sort();
  expect(await held('drop', '--all', '--workspace', folder)).toMatchObject({ code: 0 });
  expect(ids()).toEqual([bad, kept].sort());
  expect(await held('drop', bad)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(ids()).toEqual([kept]);
  for (const wrong of [['--all', kept], []]) {
    const { code, stderr } = await held('drop', ...wrong);
    expect([code, stderr]).toEqual([2, "error: expected ids or paths, or '--all'\n"]);
  }
  expect(await held('drop', kept)).toMatchObject({ code: 0 });
});

test('what cannot be done is said, and the exit code is 1', async () => {
  const path = join(folders(), 'config');
  writeFileSync(path, 'a\n');
  const id = holdBack(state.path, { path, was: 'a\n', content: 'b\n' });
  expect(await held('accept', 'nothing')).toMatchObject({
    code: 1,
    stderr: 'forkline: nothing: nothing is held back by this id or path; forkline held lists all\n',
  });
  const second = holdBack(state.path, { path, was: 'a\n', content: 'c\n' });
  const third = holdBack(state.path, { path, was: 'a\n', content: 'd\n' });
  expect(await held('accept', path)).toEqual({
    code: 1,
    stdout: '',
    stderr: [
      `forkline: ${path}: it has changed meanwhile, so the change ${second} was not put there; it stays held\n`,
      `forkline: ${path}: the later change ${third} was not tried\n`,
    ].join(''),
  });
  expect(readFileSync(path, 'utf8')).toBe('b\n');
  expect(existsSync(join(heldIn(state.path), id))).toBe(false);
  expect((await held('show')).code).toBe(2);
  expect((await held('else')).code).toBe(2);
});
