import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { dropHeld, heldBack, InputError } from '../../../src/index.js';
import { heldIn, holdBack, useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
const folders = useFolders();
useState(() => state.path);
afterEach(() => rmSync(join(state.path, 'forkline'), { recursive: true, force: true }));

test('nothing was held back: the list is empty, and nothing is made', async () => {
  expect(await heldBack()).toEqual([]);
  expect(existsSync(join(state.path, 'forkline'))).toBe(false);
});

test('all are listed, the oldest first, with their keys and a diff', async () => {
  const folder = folders();
  const path = join(folder, '.git/config');
  mkdirSync(join(folder, '.git'));
  writeFileSync(path, '[core]\n\tbare = false\n');
  const keys = ['core.fsmonitor', 'alias.x'];
  const content = '[core]\n\tbare = false\n\tfsmonitor = ./x\n';
  const later = holdBack(state.path, { path: join(folder, '.mcp.json'), at: 2_000 });
  const first = holdBack(state.path, {
    ...{ path, keys, content, was: '[core]\n\tbare = false\n', at: 1_000 },
  });
  const [one, two] = await heldBack();
  expect(one).toEqual({
    ...{ id: first, path, reason: 'setting', keys, at: 1_000 },
    diff: `--- ${path}\n+++ ${path}\n@@ -1,2 +1,3 @@\n [core]\n \tbare = false\n+\tfsmonitor = ./x\n`,
  });
  expect(two).toMatchObject({ id: later, diff: `--- /dev/null\n+++ ${folder}/.mcp.json\n` });
  expect(two).not.toHaveProperty('keys');
  // As plain data.
  expect(structuredClone(one)).toEqual(JSON.parse(JSON.stringify(one)));
});

test('of a workspace those in it are listed, by its real path', async () => {
  const [folder, other] = [folders(), folders()];
  const id = holdBack(state.path, { path: join(folder, 'a b/.npmrc'), content: 'x' });
  holdBack(state.path, { path: join(other, '.npmrc') });
  holdBack(state.path, { path: `${folder}-else/.npmrc` });
  symlinkSync(folder, join(other, 'link'));
  for (const workspace of [folder, join(other, 'link'), new URL(`file://${folder}/`)]) {
    expect((await heldBack({ workspace })).map((one) => one.id)).toEqual([id]);
  }
  const wrong = heldBack({ workspaces: folder } as object);
  await expect(wrong).rejects.toThrow(InputError);
});

test("of a workspace those in git's directory for it are listed, too", async () => {
  const folder = folders();
  const [main, tree] = [join(folder, 'main'), join(folder, 'tree')];
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', main, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  execFileSync('git', ['init', '-q', main]);
  git('commit', '-q', '--allow-empty', '-m', 'x');
  git('worktree', 'add', '-q', tree);
  mkdirSync(join(main, 'packages/one'), { recursive: true });
  const config = holdBack(state.path, { path: join(main, '.git/config') });
  holdBack(state.path, { path: join(main, '.npmrc') });
  const own = holdBack(state.path, { path: join(tree, '.npmrc') });
  const ids = async (workspace: string) => (await heldBack({ workspace })).map(({ id }) => id);
  expect(await ids(tree)).toEqual([config, own]);
  expect(await ids(join(main, 'packages/one'))).toEqual([config]);
  const file = new URL(`file://${tree}/.git/config`);
  expect((await heldBack({ file })).map(({ id }) => id)).toEqual([config]);
  expect(await heldBack({ file, workspace: folders() })).toEqual([]);
});

test('a name that is not UTF-8 is listed, can be dropped, and is put nowhere', async () => {
  const folder = folders();
  const id = holdBack(state.path, { path: join(folder, 'a?'), content: 'x\n' });
  const record = join(heldIn(state.path), id, 'record');
  const bytes = readFileSync(record);
  bytes[bytes.indexOf('?')] = 0xff;
  writeFileSync(record, bytes);
  const [one] = await heldBack({ workspace: folder });
  expect(one).toMatchObject({ id, path: `${folder}/a\ufffd`, diff: expect.stringContaining('+x') });
  await expect(one?.accept()).rejects.toThrow(`${folder}/a\ufffd: the name is not UTF-8`);
  expect(readdirSync(folder)).toEqual([]);
  expect([await dropHeld(id), await dropHeld(id), await dropHeld('..')]).toEqual([
    ...[true, false, false],
  ]);
  expect(await heldBack()).toEqual([]);
});

test('a new file and a removal are shown whole', async () => {
  const path = join(folders(), '.npmrc');
  writeFileSync(path, 'a=b\n');
  holdBack(state.path, { path, what: 'removal', reason: 'removal', was: 'a=b\n' });
  holdBack(state.path, { path: `${path}.new`, content: 'c=d' });
  const [gone, made] = await heldBack();
  expect(gone?.diff).toBe(`--- ${path}\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a=b\n`);
  expect(made?.diff).toBe(
    `--- /dev/null\n+++ ${path}.new\n@@ -0,0 +1,1 @@\n+c=d\n\\ No newline at end of file\n`,
  );
});

test('a name with a line break adds no line to a diff', async () => {
  const path = join(folders(), 'a\n+evil/.npmrc');
  holdBack(state.path, { path, content: 'x\n' });
  const [one] = await heldBack();
  expect(one?.path).toBe(path);
  const lines = one?.diff.split('\n');
  expect(lines?.[1]).toMatch(/^\+\+\+ .*\\x0a\+evil\/\.npmrc"?$/);
  expect(lines?.slice(2)).toEqual(['@@ -0,0 +1,1 @@', '+x', '']);
});

test('diffs are bounded', async () => {
  const folder = folders();
  const lines = (word: string) =>
    Array.from({ length: 20_000 }, (_, at) => `${word}${at}\n`).join('');
  const path = join(folder, 'a');
  writeFileSync(path, lines('a'));
  holdBack(state.path, { path, was: lines('a'), content: lines('b') });
  holdBack(state.path, { path: join(folder, 'b'), content: lines('c') });
  holdBack(state.path, { path: join(folder, 'c'), content: 'x'.repeat(600 * 1024) });
  const [differs, long, longest] = await heldBack();
  expect(differs?.diff).toBe('[too long to be compared]\n');
  expect(long?.diff).toMatch(/^--- .*\n\[the diff is longer than is shown\]\n$/s);
  expect(long?.diff.length).toBeLessThan(66_000);
  expect(longest?.diff).toBe('[too long to be compared]\n');
});

test('one that cannot be read is told by a warning, and the others are listed', async () => {
  const path = join(folders(), 'x');
  holdBack(state.path, { path, version: '2' });
  holdBack(state.path, { path: 'relative' });
  holdBack(state.path, { path: `${path}/../y` });
  const cut = holdBack(state.path, { path });
  writeFileSync(join(heldIn(state.path), cut, 'record'), 'version\x001\0pa');
  const id = holdBack(state.path, { path });
  // One that is being written has another name.
  mkdirSync(join(heldIn(state.path), `.${id}`));
  const warned: string[] = [];
  const listen = ({ message }: Error): number => warned.push(message);
  process.on('warning', listen);
  expect((await heldBack()).map((one) => one.id)).toEqual([id]);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  expect(warned.map((text) => text.replace(/.*removes it\): /, ''))).toEqual([
    'the record is of version 2',
    'the record has no absolute path',
    'the record has no absolute path',
    'the record is not whole',
  ]);
});

test('a directory that is open to others is refused', async () => {
  holdBack(state.path, { path: '/x' });
  chmodSync(heldIn(state.path), 0o755);
  await expect(heldBack()).rejects.toThrow('expected mode 700, got 755');
});
