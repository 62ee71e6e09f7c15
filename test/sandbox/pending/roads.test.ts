import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  acceptChanges,
  createBashTool,
  detach,
  listChanges,
  revertChanges,
  run,
} from '../../../src/index.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';
import { failureOf } from '../../support/results.js';
import { textOf as saidBy } from '../../support/tool.js';
import { fill, holding, textOf } from './held.js';

leavesNothingBehind(20);
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();

const work = (): string => fill(newFolder(), ['a', 'b']);

test('another process finds what is held, accepts it, and drops it', async () => {
  const cwd = work();
  const script = `import { run } from './dist/index.js';
    const { changes } = await run('echo held >a; rm b', { cwd: ${JSON.stringify(cwd)}, sandbox: { mode: 'workspace-write', changes: 'hold' } });
    console.log(changes.id);`;
  const args = ['--input-type=module', '-e', script];
  const id = execFileSync(process.execPath, args, { encoding: 'utf8', env: process.env }).trim();
  expect(await listChanges({ workspace: cwd })).toMatchObject([
    { id, state: 'held', changed: 1, deleted: 1, cwd },
  ]);
  expect(await acceptChanges(id, [join(cwd, 'a')])).toMatchObject({ accepted: [join(cwd, 'a')] });
  expect(textOf(join(cwd, 'a'))).toBe('held\n');
  expect(await revertChanges(id)).toMatchObject({ reverted: [join(cwd, 'b')], conflicts: [] });
  expect(await listChanges({ workspace: cwd })).toEqual([]);
  expect(textOf(join(cwd, 'b'))).toBe('b\n');
  expect(await failureOf(acceptChanges(id))).toMatchObject({
    message: `id: expected that of held changes, got "${id}"`,
  });
});

test('all commands of a tool have one set, which the tool reads', async () => {
  const cwd = work();
  const bash = createBashTool({ contract: 'plain', cwd, sandbox: holding() });
  try {
    expect(await bash.heldChanges?.read()).toMatchObject({ state: 'held', list: [] });
    expect(bash.changes).toBeUndefined();
    await bash.execute({ command: 'echo one >a' });
    const said = saidBy(await bash.execute({ command: 'cat a; echo two >b' }));
    expect(said).toContain('"one\\n"');
    expect(said).toContain('Held, not in effect: 2 files (2 changed). The user can accept them.');
    const changes = await bash.heldChanges?.read();
    expect(changes).toMatchObject({ state: 'held', changed: 2 });
    if (changes?.state === 'held') await changes.accept();
    expect([textOf(join(cwd, 'a')), textOf(join(cwd, 'b'))]).toEqual(['one\n', 'two\n']);
  } finally {
    await bash.dispose();
  }
});

test('a bash that lasts holds its changes, and sees them after they were accepted', async () => {
  const cwd = work();
  const bash = createBashTool({
    contract: 'session',
    cwd,
    sandbox: holding(),
    persistent: true,
  });
  try {
    await bash.execute({ command: 'echo one >a' });
    const changes = await bash.heldChanges?.read();
    expect([changes?.changed, textOf(join(cwd, 'a'))]).toEqual([1, 'a\n']);
    if (changes?.state === 'held') await changes.accept();
    expect(textOf(join(cwd, 'a'))).toBe('one\n');
    const said = saidBy(await bash.execute({ command: 'echo two >>a; cat a' }));
    expect(said).toContain('one\ntwo');
    const later = await bash.heldChanges?.read();
    expect(later?.list).toMatchObject([{ kind: 'changed', size: 8, sizeBefore: 4 }]);
  } finally {
    await bash.dispose();
  }
});

test('a detached command has what it holds in the list of all', async () => {
  const cwd = work();
  const task = await detach('echo one >a', { cwd, sandbox: holding() });
  await task.wait({ ended: true });
  expect(textOf(join(cwd, 'a'))).toBe('a\n');
  const [one] = await listChanges({ workspace: cwd });
  expect(one).toMatchObject({ state: 'held', changed: 1 });
  await acceptChanges(one?.id ?? '');
  expect(textOf(join(cwd, 'a'))).toBe('one\n');
});

test.each([
  [{ changes: 'maybe' }, "sandbox.changes: expected 'apply', 'hold' or 'discard', got \"maybe\""],
  [{ mode: 'danger-full-access' }, "expected 'apply' with mode 'danger-full-access'"],
  [{ mode: 'read-only' }, "expected 'apply' with mode 'read-only'"],
  [{ undo: true }, "expected 'apply' with undo"],
  [{ require: 'landlock' }, "expected 'apply' with require: 'landlock'"],
  [{ filesystem: { tmp: 'shared' } }, "expected 'apply' with filesystem.tmp: 'shared'"],
  [{ filesystem: { allowWrite: ['/'] } }, "expected 'apply' with filesystem.allowWrite: ['/']"],
])('refused by its name: %j', async (more, message) => {
  const sandbox = { ...holding(), ...more } as ReturnType<typeof holding>;
  const failure = await failureOf(run('true', { cwd: newFolder(), sandbox }));
  expect(failure).toMatchObject({ message: expect.stringContaining(message) });
});

test('a file that is to be written to can not be held', async () => {
  const cwd = work();
  const sandbox = holding({ filesystem: { allowWrite: [join(newFolder(), 'x')] } });
  writeFileSync(sandbox.filesystem?.allowWrite?.[0] ?? '', '');
  const failure = await failureOf(run('true', { cwd, sandbox }));
  expect(failure).toMatchObject({ message: expect.stringMatching(/holding the changes of '.*x'/) });
});
