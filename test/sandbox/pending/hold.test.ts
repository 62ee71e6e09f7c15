import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findChanges, listChanges, run } from '../../../src/index.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';
import { fill, held, holding, picture, textOf } from './held.js';

leavesNothingBehind(40);
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();

const work = (): string => fill(newFolder(), ['a', 'b', 'old', 'sub/c', 'sub/deep/d', 'gone/e']);
const WORK =
  'echo more >>a; rm b; mv old renamed; rm -r gone; mkdir -p new/deeper; echo x >new/deeper/f; chmod 700 sub/c; ln -s a link; ln a twice';

test('nothing is changed outside until it is accepted, and then all of it', async () => {
  const [cwd, other] = [work(), work()];
  const before = picture(cwd);
  const { changes, sandbox } = await held(WORK, cwd);
  expect(picture(cwd)).toBe(before);
  const told = changes.list.map(({ kind, path }) => `${kind} ${path.slice(cwd.length + 1)}`);
  expect(told).toEqual([
    'changed a',
    'deleted b',
    'deleted gone',
    'deleted gone/e',
    'created link',
    'created new',
    'renamed renamed',
    'mode sub/c',
    'created twice',
  ]);
  expect(changes).toMatchObject({ created: 3, changed: 2, deleted: 2, renamed: 1, complete: true });
  expect(sandbox?.changes).toMatchObject({ state: 'held', created: 3 });
  const { accepted, conflicts, heldBack } = await changes.accept();
  expect({ conflicts, heldBack }).toEqual({ conflicts: [], heldBack: [] });
  expect(accepted).toContain(join(cwd, 'new/deeper/f'));
  execFileSync('bash', ['-c', WORK], { cwd: other });
  expect(picture(cwd)).toBe(picture(other));
  expect(await (await findChanges(changes.id ?? '')).list).toEqual([]);
});

test('a later command with the same policy sees what an earlier one has changed, and others do not', async () => {
  const cwd = work();
  const sandbox = holding();
  await held('echo held >a', cwd, sandbox);
  const second = await held('cat a; echo more >>a', cwd, sandbox);
  expect(second.output).toMatchObject({ text: 'held\n' });
  const elsewhere = await held('cat a', cwd);
  expect(elsewhere.output).toMatchObject({ text: 'a\n' });
  expect(elsewhere.changes).toMatchObject({ list: [], changed: 0 });
  await second.changes.accept();
  expect(textOf(join(cwd, 'a'))).toBe('held\nmore\n');
});

test('a directory that is made anew has nothing of the one before', async () => {
  const [cwd, other] = [work(), work()];
  const command = 'rm -r sub; mkdir -p sub/deep; echo new >sub/deep/n; rm -r gone; echo file >gone';
  const { changes } = await held(command, cwd);
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  execFileSync('bash', ['-c', command], { cwd: other });
  expect(picture(cwd)).toBe(picture(other));
});

test('of several at once one is accepted, and the others have conflicts then', async () => {
  const cwd = work();
  const tries = await Promise.all(
    ['one', 'two', 'three'].map((name) => held(`echo ${name} >a; echo ${name} >${name}`, cwd)),
  );
  expect(readdirSync(cwd).sort()).toEqual(['a', 'b', 'gone', 'old', 'sub']);
  const [one, two, three] = tries.map(({ changes }) => changes);
  expect(await two?.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(textOf(join(cwd, 'a'))).toBe('two\n');
  expect(await one?.accept()).toEqual({
    accepted: [join(cwd, 'one')],
    conflicts: [{ path: join(cwd, 'a'), reason: 'it was changed outside' }],
    heldBack: [],
  });
  expect(textOf(join(cwd, 'a'))).toBe('two\n');
  expect(existsSync(join(cwd, 'three'))).toBe(false);
  expect(three?.state).toBe('held');
});

test.each<[string, string, (cwd: string) => void, string]>([
  ['a file', 'echo x >a', (cwd) => writeFileSync(join(cwd, 'a'), 'user'), 'it was changed outside'],
  [
    'its name',
    'echo x >n',
    (cwd) => writeFileSync(join(cwd, 'n'), 'user'),
    'it was changed outside',
  ],
  [
    'a file that is removed',
    'rm a',
    (cwd) => writeFileSync(join(cwd, 'a'), 'u'),
    'it was changed outside',
  ],
  [
    'what is in a directory that is removed',
    'rm -r sub',
    (cwd) => writeFileSync(join(cwd, 'sub/deep/d'), 'user'),
    '/sub/deep/d was changed outside',
  ],
  [
    'a file that the user removes',
    'echo x >>a',
    (cwd) => rmSync(join(cwd, 'a')),
    'it was removed outside',
  ],
  [
    'a directory that has become a link',
    'echo x >sub/c',
    (cwd) => {
      renameSync(join(cwd, 'sub'), join(cwd, 'moved'));
      symlinkSync('moved', join(cwd, 'sub'));
    },
    'its directory is another one outside',
  ],
])('what the user has changed meanwhile stays: %s', async (_, command, edit, reason) => {
  const cwd = work();
  const { changes } = await held(command, cwd);
  edit(cwd);
  const after = picture(cwd);
  const { accepted, conflicts } = await changes.accept();
  expect(accepted).toEqual([]);
  expect(conflicts.map((it) => it.reason).join('\n')).toContain(reason);
  expect(picture(cwd)).toBe(after);
});

test('some paths alone are accepted, and the rest stays held', async () => {
  const cwd = work();
  const { changes } = await held(WORK, cwd);
  const { accepted } = await changes.accept(['new/deeper', 'a']);
  expect(accepted).toEqual(
    ['a', 'new', 'new/deeper', 'new/deeper/f'].map((path) => join(cwd, path)),
  );
  expect(readdirSync(cwd).sort()).toEqual(['a', 'b', 'gone', 'new', 'old', 'sub']);
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(existsSync(join(cwd, 'b'))).toBe(false);
});

test('settings are accepted by their own path alone', async () => {
  const cwd = work();
  execFileSync('git', ['init', '-q'], { cwd });
  const text =
    'git config core.fsmonitor evil; echo evil >.npmrc; echo evil >.git/hooks/pre-commit; echo fine >a';
  const { changes } = await held(text, cwd);
  const reason = 'it is a setting that programs outside obey';
  const { accepted, heldBack } = await changes.accept();
  expect(accepted).toEqual([join(cwd, 'a')]);
  expect(heldBack).toEqual([
    { path: join(cwd, '.git/config'), reason },
    { path: join(cwd, '.git/hooks/pre-commit'), reason },
    { path: join(cwd, '.npmrc'), reason },
  ]);
  expect(await changes.accept(['.'])).toMatchObject({ accepted: [], heldBack });
  expect(await changes.accept(['.npmrc'])).toMatchObject({ accepted: [join(cwd, '.npmrc')] });
  expect(textOf(join(cwd, '.git/config'))).not.toContain('evil');
});

test('hooks elsewhere are settings, and so is what makes place for a link', async () => {
  const cwd = work();
  execFileSync(
    'bash',
    [
      '-c',
      'git init -q; git config core.hooksPath .githooks; mkdir .githooks; echo >.githooks/pre-commit; mkdir nested; git init -q nested',
    ],
    { cwd },
  );
  const text =
    'echo evil >.githooks/pre-commit; rm -r nested; mkdir evil; mv .git/objects evil; ln -s ../evil .git/objects';
  const { changes } = await held(text, cwd);
  const { heldBack, accepted } = await changes.accept();
  expect(heldBack.map(({ path }) => path.slice(cwd.length + 1))).toEqual(
    expect.arrayContaining(['.git/objects', '.githooks/pre-commit', 'nested']),
  );
  expect(accepted.some((path) => path.startsWith(join(cwd, 'nested')))).toBe(false);
  expect(textOf(join(cwd, '.githooks/pre-commit'))).toBe('\n');
});

test('git works inside, and its commit is there once it is accepted', async () => {
  const cwd = work();
  const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' });
  const identity = '-c user.name=x -c user.email=x@y';
  git('init', '-q');
  execFileSync('bash', ['-c', `git add -A; git ${identity} commit -qm one`], { cwd });
  const { changes, outcome } = await held(
    `git switch -qc topic && echo x >a && git ${identity} commit -qam two && git rm -q b && git ${identity} commit -qm three`,
    cwd,
  );
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(git('log', '--oneline').trim().split('\n')).toHaveLength(1);
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(git('log', '--format=%s', 'topic').trim().split('\n')).toEqual(['three', 'two', 'one']);
  expect(git('status', '--short')).toBe('');
  expect(git('fsck', '--strict')).toBe('');
});

test('what is moved out of a directory that then goes is told as moved, and the rest as gone', async () => {
  const names = ['gone/e', 'gone/deep/f', 'gone/deep/g'];
  const cwd = fill(newFolder(), names);
  names.forEach((name, at) => {
    utimesSync(join(cwd, name), at, at);
  });
  const { changes } = await held('mv gone/e .; mv gone/deep/f two; rm -r gone', cwd);
  expect(changes).toMatchObject({ created: 0, deleted: 1, renamed: 2, complete: true });
  expect(changes.list).toContainEqual(
    expect.objectContaining({ kind: 'renamed', path: join(cwd, 'e'), from: join(cwd, 'gone/e') }),
  );
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(readdirSync(cwd).sort()).toEqual(['e', 'two']);
});

test('what is discarded was never there, and is told', async () => {
  const cwd = work();
  const before = picture(cwd);
  const { changes, sandbox } = await run(WORK, { cwd, sandbox: holding({ changes: 'discard' }) });
  expect(changes).toMatchObject({ state: 'discarded', created: 3, changed: 2, deleted: 2 });
  expect(changes).not.toHaveProperty('id');
  expect(sandbox?.changes).toMatchObject({ state: 'discarded' });
  expect(await changes?.revert()).toEqual({ reverted: [], conflicts: [], lost: [] });
  expect(picture(cwd)).toBe(before);
  expect((await listChanges()).some(({ cwd: there }) => there === cwd)).toBe(false);
});

test('what was accepted and is removed inside is removed outside by the next accept', async () => {
  const cwd = work();
  const sandbox = holding();
  const first = await held('mkdir new; echo 1 >new/f; echo 2 >new/g', cwd, sandbox);
  await first.changes.accept();
  const second = await held('rm new/f; echo 3 >new/g', cwd, sandbox);
  expect(second.changes.list.map(({ kind }) => kind)).toEqual(['deleted', 'changed']);
  expect(await second.changes.accept()).toMatchObject({ conflicts: [] });
  expect(readdirSync(join(cwd, 'new'))).toEqual(['g']);
  expect(textOf(join(cwd, 'new/g'))).toBe('3\n');
});

test('what is dropped is gone, and the next command begins anew', async () => {
  const cwd = work();
  const sandbox = holding();
  const first = await held('echo one >a', cwd, sandbox);
  expect(await first.changes.revert()).toMatchObject({ reverted: [join(cwd, 'a')], lost: [] });
  expect(await listChanges({ workspace: cwd })).toEqual([]);
  const second = await held('cat a; echo two >b', cwd, sandbox);
  expect(second.output).toMatchObject({ text: 'a\n' });
  expect(second.changes.list).toMatchObject([{ kind: 'changed', path: join(cwd, 'b') }]);
  expect(second.changes.id).not.toBe(first.changes.id);
  expect(picture(cwd)).toBe(picture(work()));
});
