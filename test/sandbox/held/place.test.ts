import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { heldNow, useState, type WrittenChange } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

// The directory in which a change is put.
leavesNothingBehind();
const state = useFolder();
const folders = useFolders();
useState(() => state.path);

const held = (change: WrittenChange) => heldNow(state.path, change);

test('a directory that has come to the path of another one is a conflict', async () => {
  const git = join(folders(), '.git');
  mkdirSync(git);
  const path = join(git, 'config');
  writeFileSync(path, 'same\n');
  const file = await held({ path, was: 'same\n', content: 'after\n' });
  const fresh = await held({ path: join(git, 'hooks'), content: 'x' });
  const gone = await held({ path, was: 'same\n', what: 'removal', reason: 'removal' });
  renameSync(git, `${git}.moved`);
  const accept = async () => [await file.accept(), await fresh.accept(), await gone.accept()];
  expect(await accept()).toEqual(['conflict', 'conflict', 'conflict']);
  expect(existsSync(git)).toBe(false);
  mkdirSync(git);
  writeFileSync(path, 'same\n');
  expect(await accept()).toEqual(['conflict', 'conflict', 'conflict']);
  expect(readFileSync(path, 'utf8')).toBe('same\n');
  rmSync(git, { recursive: true });
  renameSync(`${git}.moved`, git);
  expect([await fresh.accept(), await file.accept()]).toEqual(['put', 'put']);
});

test('no directories are made for git, nor where it is not known what there was', async () => {
  const top = folders();
  const hook = await held({ path: join(top, '.git/hooks/pre-commit') });
  const old = await held({
    ...{ path: join(top, '.vscode/tasks.json'), reason: 'unknown-content', isOld: true },
  });
  expect([await hook.accept(), await old.accept()]).toEqual(['conflict', 'conflict']);
  expect([existsSync(join(top, '.git')), existsSync(join(top, '.vscode'))]).toEqual([false, false]);
  mkdirSync(join(top, '.vscode'));
  expect(await old.accept()).toBe('put');
});

test('missing directories of a new setting are made below the directory that was there', async () => {
  const top = folders();
  const change = { reason: 'unknown-content', content: '{}' } as const;
  const one = await held({ path: join(top, 'a/.vscode/one.json'), ...change });
  const two = await held({ path: join(top, 'b/.vscode/two.json'), ...change });
  symlinkSync(folders(), join(top, 'b'));
  expect(await two.accept()).toBe('conflict');
  rmSync(join(top, 'b'));
  expect([await one.accept(), await two.accept()]).toEqual(['put', 'put']);
  const other = await held({ path: join(top, 'c/.vscode/one.json'), ...change });
  renameSync(top, `${top}.moved`);
  mkdirSync(top);
  expect(await other.accept()).toBe('conflict');
  rmSync(top, { recursive: true });
  renameSync(`${top}.moved`, top);
});

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)("directories that root makes are not root's own (root)", async () => {
  const top = folders();
  chownSync(top, 4321, 4322);
  const path = join(top, 'a/.vscode/one.json');
  const one = await held({ path, reason: 'unknown-content' });
  expect(await one.accept()).toBe('put');
  for (const each of [path, dirname(path), join(top, 'a')]) {
    expect(statSync(each)).toMatchObject({ uid: 4321, gid: 4322 });
  }
});
