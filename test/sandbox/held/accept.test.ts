import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Held, heldBack } from '../../../src/index.js';
import { heldIn, heldNow, holdBack, useState, type WrittenChange } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
const folders = useFolders();
useState(() => state.path);

const SHARED = '/dev/shm';

const held = (change: WrittenChange) => heldNow(state.path, change);

const isHeld = ({ id }: Held): boolean => existsSync(join(heldIn(state.path), id));

test('a file is put in place, with its mode, and is no longer held', async () => {
  const path = join(folders(), 'config');
  writeFileSync(path, 'before\n');
  const one = await held({ path, content: 'after\n', was: 'before\n', mode: '100600' });
  expect(await one.accept()).toBe('put');
  expect(readFileSync(path, 'utf8')).toBe('after\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(isHeld(one)).toBe(false);
  await expect(one.accept()).rejects.toThrow(`${path}: the change is no longer held`);
  await one.drop();
});

test('bytes that are no text are put as they are, and an executable hook can be run', async () => {
  const path = join(folders(), 'pre-commit');
  const id = holdBack(state.path, { path, mode: '106755', keys: ['hooks/pre-commit'] });
  const bytes = Buffer.from([0, 255, 10, 13, 254]);
  writeFileSync(join(heldIn(state.path), id, 'content'), bytes);
  const [one] = await heldBack({ workspace: join(path, '..') });
  expect(one?.diff).toBe('[binary]\n');
  expect(await one?.accept()).toBe('put');
  expect(readFileSync(path)).toEqual(bytes);
  expect(statSync(path).mode & 0o7777).toBe(0o755);
});

test('a new file is put in place, and the directories that it takes', async () => {
  const folder = folders();
  const path = join(folder, '.vscode/deep/settings.json');
  const one = await held({ path, content: '{}', reason: 'unknown-content' });
  expect(await one.accept()).toBe('put');
  expect(readFileSync(path, 'utf8')).toBe('{}');
});

test('a file that has come meanwhile, or changed, is a conflict, and the change stays held', async () => {
  const folder = folders();
  const fresh = join(folder, 'new');
  const one = await held({ path: fresh, content: 'theirs' });
  writeFileSync(fresh, "the user's");
  expect(await one.accept()).toBe('conflict');
  expect(readFileSync(fresh, 'utf8')).toBe("the user's");
  const path = join(folder, 'config');
  writeFileSync(path, 'before');
  const other = await held({ path, content: 'theirs', was: 'before' });
  writeFileSync(path, 'edited');
  expect(await other.accept()).toBe('conflict');
  expect(readFileSync(path, 'utf8')).toBe('edited');
  rmSync(path);
  expect(await other.accept()).toBe('conflict');
  mkdirSync(path);
  expect(await other.accept()).toBe('conflict');
  expect([isHeld(one), isHeld(other)]).toEqual([true, true]);
  await other.drop();
  await one.drop();
  expect([isHeld(one), isHeld(other)]).toEqual([false, false]);
});

test('a file that was written again with the same content has not changed', async () => {
  const path = join(folders(), 'config');
  writeFileSync(path, 'same');
  const one = await held({ path, content: 'after', was: 'same' });
  writeFileSync(`${path}.lock`, 'same');
  renameSync(`${path}.lock`, path);
  expect(await one.accept()).toBe('put');
  expect(readFileSync(path, 'utf8')).toBe('after');
});

test('a removal removes a file, and an empty directory', async () => {
  const folder = folders();
  const path = join(folder, '.mcp.json');
  writeFileSync(path, '{}');
  const one = await held({ path, what: 'removal', reason: 'removal', was: '{}' });
  expect(one.reason).toBe('removal');
  expect(await one.accept()).toBe('put');
  expect(existsSync(path)).toBe(false);
  const inner = join(folder, '.vscode');
  mkdirSync(inner);
  const id = holdBack(state.path, { path: inner, what: 'removal', reason: 'removal', was: '' });
  const other = (await heldBack()).find((each) => each.id === id);
  writeFileSync(join(inner, 'new'), '');
  // Its time has changed with that.
  expect(await other?.accept()).toBe('conflict');
});

test('a link is put as a link', async () => {
  const path = join(folders(), 'alternates');
  const one = await held({ path, what: 'link', content: '/else where', mode: '120777' });
  expect(one.diff).toBe('[a symbolic link to "/else where"]\n');
  expect(await one.accept()).toBe('put');
  expect(readlinkSync(path)).toBe('/else where');
});

test('no link on the way is followed, and none at the end', async () => {
  const folder = folders();
  const elsewhere = folders();
  mkdirSync(join(folder, 'sub'));
  const path = join(folder, 'sub/.mcp.json');
  const one = await held({ path, content: 'theirs' });
  rmSync(join(folder, 'sub'), { recursive: true });
  symlinkSync(elsewhere, join(folder, 'sub'));
  expect(await one.accept()).toBe('conflict');
  const deep = await held({ path: join(folder, 'sub/a/b/.mcp.json'), content: 'theirs' });
  expect(await deep.accept()).toBe('conflict');
  expect(readdirSync(elsewhere)).toEqual([]);

  const file = join(folder, 'config');
  writeFileSync(file, 'before');
  const other = await held({ path: file, content: 'theirs', was: 'before' });
  renameSync(file, join(elsewhere, 'kept'));
  symlinkSync(join(elsewhere, 'kept'), file);
  expect(await other.accept()).toBe('conflict');
  expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('before');
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
});

test('another name of the file keeps its content', async () => {
  const folder = folders();
  const path = join(folder, 'config');
  writeFileSync(path, 'before');
  linkSync(path, join(folder, 'second'));
  const one = await held({ path, content: 'after', was: 'before' });
  expect(await one.accept()).toBe('put');
  expect(readFileSync(join(folder, 'second'), 'utf8')).toBe('before');
});

const onOtherDisk = existsSync(SHARED) && statSync(SHARED).dev !== statSync('/tmp').dev;

test.skipIf(!onOtherDisk)('a file on another file system is put as well', async () => {
  const folder = mkdtempSync(join(SHARED, 'forkline-held-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'config');
  writeFileSync(path, 'a longer one before\n');
  const there = statSync(path).ino;
  const one = await held({ path, content: 'after\n', was: 'a longer one before\n' });
  expect(await one.accept()).toBe('put');
  expect(readFileSync(path, 'utf8')).toBe('after\n');
  expect(statSync(path).ino).toBe(there);
  linkSync(path, join(folder, 'second'));
  const other = await held({ path, content: 'last\n', was: 'after\n', mode: '100755' });
  expect(await other.accept()).toBe('put');
  expect(readFileSync(join(folder, 'second'), 'utf8')).toBe('after\n');
  expect(statSync(path).mode & 0o777).toBe(0o755);
  const link = await held({ path: join(folder, 'link'), what: 'link', content: 'x' });
  expect(await link.accept()).toBe('put');
  expect(readlinkSync(join(folder, 'link'))).toBe('x');
  const fresh = await held({
    ...{ path: join(folder, 'sub/new'), content: 'new', reason: 'unknown-content' },
  });
  expect(await fresh.accept()).toBe('put');
  expect(readFileSync(join(folder, 'sub/new'), 'utf8')).toBe('new');
});

const isRoot = process.getuid?.() === 0;

test.skipIf(isRoot)('a system error is thrown, and the change stays held (no root)', async () => {
  const folder = folders();
  const one = await held({ path: join(folder, 'new'), content: 'x' });
  chmodSync(folder, 0o500);
  onTestFinished(() => chmodSync(folder, 0o700));
  await expect(one.accept()).rejects.toThrow('EACCES');
  expect(isHeld(one)).toBe(true);
});
