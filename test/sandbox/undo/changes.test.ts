import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findChanges, listChanges, revertChanges, run, spawn } from '../../../src/index.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

leavesNothingBehind(15);
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();

/** A folder with three files. */
function workspace(): string {
  const work = newFolder();
  mkdirSync(join(work, 'sub'));
  for (const name of ['a', 'b', 'sub/c']) writeFileSync(join(work, name), `${name} before\n`);
  return work;
}

const WORK = 'echo after >a; rm b; mv sub there; mkdir made; echo 1 >made/x; echo 22 >made/y';

test('what a command has changed is listed, and taken back', async () => {
  const cwd = workspace();
  const { changes, sandbox } = await run(WORK, { cwd, undo: true });
  expect(sandbox?.enforced.undo).toBe('journal');
  expect(changes).toMatchObject({ complete: true, unseen: [], unrevertable: [], more: 0 });
  expect(changes?.list.map(({ kind, path }) => `${kind} ${path.slice(cwd.length + 1)}`)).toEqual([
    'changed a',
    'deleted b',
    'created made',
    'renamed there',
  ]);
  expect(changes?.list[2]).toMatchObject({ type: 'directory', files: 2, size: 5 });
  expect(changes?.list[3]).toMatchObject({ from: join(cwd, 'sub') });
  const { list: _, more: __, ...counts } = { ...changes, list: [], more: 0 };
  expect(sandbox?.changes).toEqual(counts);
  const done = await changes?.revert();
  expect(done).toMatchObject({ conflicts: [], lost: [] });
  for (const name of ['a', 'b', 'sub/c']) {
    expect(readFileSync(join(cwd, name), 'utf8')).toBe(`${name} before\n`);
  }
  expect(['made', 'there'].some((name) => existsSync(join(cwd, name)))).toBe(false);
});

test('a command that changes nothing has no id, and nothing to take back', async () => {
  const { changes, sandbox } = await run('cat a', { cwd: workspace(), undo: true });
  expect(changes).not.toHaveProperty('id');
  expect(changes).toMatchObject({ list: [], changed: 0, complete: true });
  expect(sandbox?.changes).toMatchObject({ created: 0, complete: true });
  expect(await changes?.revert()).toEqual({ reverted: [], conflicts: [], lost: [] });
});

test('without undo there are no changes', async () => {
  const plain = await run('echo x >a', { cwd: workspace() });
  expect(plain).not.toHaveProperty('changes');
  const boxed = await run('echo x >a', { cwd: workspace(), sandbox: 'workspace-write' });
  expect(boxed).not.toHaveProperty('changes');
  expect(boxed.sandbox?.enforced.undo).toBe('none');
  expect(boxed.sandbox).not.toHaveProperty('changes');
});

test('what is changed since stays, and is named', async () => {
  const cwd = workspace();
  const { changes } = await run('echo after >a; echo after >b', { cwd, undo: true });
  writeFileSync(join(cwd, 'a'), 'by the user\n');
  const done = await changes?.revert();
  expect(done?.conflicts.map(({ path }) => path)).toEqual([join(cwd, 'a')]);
  expect(done?.reverted).toEqual([join(cwd, 'b')]);
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('by the user\n');
  expect(readFileSync(join(cwd, 'b'), 'utf8')).toBe('b before\n');
});

test('a part is taken back by paths, relative to the directory of the command', async () => {
  const cwd = workspace();
  const { changes } = await run('echo x | tee a b sub/c', { cwd, undo: true });
  await changes?.revert(['sub', join(cwd, 'a')]);
  const now = ['a', 'b', 'sub/c'].map((name) => readFileSync(join(cwd, name), 'utf8'));
  expect(now).toEqual(['a before\n', 'x\n', 'sub/c before\n']);
  await expect(changes?.revert('sub' as never)).rejects.toThrow(
    'paths: expected an array of paths, got "sub"',
  );
});

test('in a sandbox it is the same', async () => {
  const cwd = workspace();
  const sandbox = { mode: 'workspace-write', undo: true } as const;
  const { changes } = await run('echo after >a; echo x >/tmp/x', { cwd, sandbox });
  expect(changes).toMatchObject({ changed: 1, complete: true });
  await changes?.revert();
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('a before\n');
});

test('a live process has its changes in its result', async () => {
  const cwd = workspace();
  const live = await spawn('rm a', { cwd, undo: true });
  const { changes } = await live.result;
  expect(changes).toMatchObject({ deleted: 1 });
  await changes?.revert();
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('a before\n');
});

test('any process finds changes by their id, or all of a workspace', async () => {
  const cwd = workspace();
  const before = Date.now();
  const { changes } = await run('echo after >a', { cwd, undo: true });
  const { changes: second } = await run('rm b', { cwd, undo: true });
  const all = await listChanges({ workspace: cwd });
  expect(all).toMatchObject([
    { id: changes?.id, command: 'echo after >a', cwd, changed: 1, isReverted: false },
    { id: second?.id, command: 'rm b', cwd, deleted: 1, complete: true },
  ]);
  expect(all[0]?.at).toBeGreaterThan(before - 1000);
  expect(await listChanges({ workspace: join(cwd, 'sub') })).toEqual([]);
  expect((await findChanges(second?.id ?? '')).list).toMatchObject([{ kind: 'deleted' }]);
  expect(await revertChanges(changes?.id ?? '')).toMatchObject({ reverted: [join(cwd, 'a')] });
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('a before\n');
  expect(await listChanges({ workspace: cwd })).toMatchObject([{ isReverted: true }, {}]);
});

test.each(['0123456789abcdef', '', '../..', 5])('nothing is known by the id %j', async (id) => {
  const message = 'id: expected that of recorded changes, got';
  await expect(revertChanges(id as string)).rejects.toThrow(message);
  await expect(findChanges(id as string)).rejects.toThrow(message);
});

test('a command that is run again with more rights is taken back with both runs', async () => {
  const cwd = workspace();
  const sandbox = {
    mode: 'workspace-write',
    undo: true,
    filesystem: { denyWrite: ['b'] },
  } as const;
  const onDenied = () => 'workspace-write' as const;
  const { changes, firstRun } = await run('echo x >>a; echo x >>b', { cwd, sandbox, onDenied });
  expect(firstRun).toBeDefined();
  expect(changes).toMatchObject({ changed: 2 });
  await changes?.revert();
  const now = ['a', 'b'].map((name) => readFileSync(join(cwd, name), 'utf8'));
  expect(now).toEqual(['a before\n', 'b before\n']);
});

test('a file that can not be kept is made all the same, or refused', async () => {
  const cwd = workspace();
  writeFileSync(join(cwd, 'large'), Buffer.alloc(1024 * 1024, 'x'));
  const undo = { maxBytes: 64 * 1024 };
  const gone = await run('echo y >large', { cwd, undo });
  expect(gone.outcome).toEqual({ kind: 'exited', exitCode: 0 });
  const [lost] = gone.changes?.unrevertable ?? [];
  expect(lost?.path).toBe(join(cwd, 'large'));
  expect((await gone.changes?.revert())?.lost.map(({ path }) => path)).toEqual([lost?.path]);
  writeFileSync(join(cwd, 'large'), Buffer.alloc(1024 * 1024, 'x'));
  const kept = await run('echo y >large', { cwd, undo: { ...undo, whenFull: 'refuse' } });
  expect(kept.outcome).not.toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(cwd, 'large')).length).toBe(1024 * 1024);
});

test('a record that can not be read is told, and no reason to fail', async () => {
  const cwd = workspace();
  const { changes } = await run('echo after >a', { cwd, undo: true });
  const journal = join(state.path, 'forkline/undo', changes?.id ?? '');
  renameSync(journal, `${journal.slice(0, -16)}.moved`);
  await expect(changes?.revert()).rejects.toThrow();
});

test('a file that was changed by a new name, which is gone again, is told and taken back', async () => {
  const cwd = workspace();
  const { changes } = await run('ln a new; chmod 600 new; echo after >new; rm new', {
    cwd,
    undo: true,
  });
  expect(changes?.list.map(({ kind, path }) => `${kind} ${path.slice(cwd.length + 1)}`)).toEqual([
    'changed a',
    'mode a',
  ]);
  expect(await changes?.revert()).toMatchObject({ conflicts: [], lost: [] });
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('a before\n');
});

test('a file that its owner may not read is taken back, with its mode', async () => {
  const cwd = workspace();
  chmodSync(join(cwd, 'a'), 0o000);
  const { changes } = await run('rm -f a', { cwd, undo: true });
  expect(changes).toMatchObject({ deleted: 1, unrevertable: [] });
  expect(await changes?.revert()).toMatchObject({ conflicts: [], lost: [] });
  expect(statSync(join(cwd, 'a')).mode & 0o7777).toBe(0o000);
  chmodSync(join(cwd, 'a'), 0o600);
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('a before\n');
});
