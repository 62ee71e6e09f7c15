import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type BashTool,
  CONTRACT_NAMES,
  createBashTool,
  listChanges,
  type Receipt,
  revertChanges,
  TaskManager,
} from '../../../src/index.js';
import { untilState, useTasks } from '../../support/detached-tasks.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind(20);
const tasks = useTasks();
const newFolder = useFolders();
const keep = useDisposal();

function workspace(): string {
  const work = newFolder();
  mkdirSync(join(work, 'sub'));
  writeFileSync(join(work, 'a'), 'before\n');
  return work;
}

const now = (work: string): string => readFileSync(join(work, 'a'), 'utf8');

/** Makes a tool as callers without a type checker do. */
const toolOf = (options: object): BashTool =>
  keep((createBashTool as (given: object) => BashTool & AsyncDisposable)(options));

test.each(CONTRACT_NAMES)('%s: a model is told how much was changed', async (contract) => {
  const cwd = workspace();
  const bash = toolOf({ contract, cwd, undo: true });
  const said = textOf(await bash.execute({ command: 'echo x >a; echo y >b; rmdir sub' }));
  expect(said).toContain('Changed 2 files (1 created, 1 changed).');
  expect(textOf(await bash.execute({ command: 'echo nothing' }))).not.toContain('hanged');
});

test.each(CONTRACT_NAMES)(
  '%s: the commands of a tool are taken back together',
  async (contract) => {
    const cwd = workspace();
    const bash = toolOf({ contract, cwd, sandbox: { undo: true } });
    for (const word of ['one', 'two', 'three']) await bash.execute({ command: `echo ${word} >a` });
    const all = (await bash.changes?.list()) ?? [];
    expect(all.map(({ command }) => command)).toEqual(
      ['one', 'two', 'three'].map((word) => `echo ${word} >a`),
    );
    expect(all[0]).toMatchObject({ cwd, changed: 1, complete: true });
    await bash.changes?.revertTo(all[1]?.id ?? '');
    expect(now(cwd)).toBe('one\n');
    await bash.changes?.revertTo(all[0]?.id ?? '');
    expect(now(cwd)).toBe('before\n');
    await expect(bash.changes?.revertTo('none')).rejects.toThrow('id: expected that of a command');
  },
);

test('a tool without undo has no changes', () => {
  expect(toolOf({ contract: 'plain', cwd: newFolder() })).not.toHaveProperty('changes');
});

test('a persistent shell is one command', async () => {
  const cwd = workspace();
  const bash = toolOf({ contract: 'session', cwd, persistent: true, undo: true });
  const said = textOf(await bash.execute({ command: 'echo one >a' }));
  expect(said).not.toContain('Changed');
  await bash.execute({ command: 'echo two >a; echo x >b' });
  const all = (await bash.changes?.list()) ?? [];
  expect(all).toMatchObject([{ command: '(the calls of a persistent shell)', changed: 1 }]);
  await expect(bash.changes?.revertTo(all[0]?.id ?? '')).rejects.toThrow(/is in use/);
  await bash.dispose();
  await bash.changes?.revertTo(all[0]?.id ?? '');
  expect(now(cwd)).toBe('before\n');
});

test('a task has its changes in its receipt', async () => {
  const cwd = workspace();
  const receipts: (Receipt | undefined)[] = [];
  const manager = new TaskManager({
    onEvent: ({ news }) => {
      for (const one of news) if (one.kind === 'ended') receipts.push(one.receipt);
    },
  });
  const task = await manager.start('echo x >a', { cwd, undo: true });
  await task.ended;
  await eventually(() => expect(receipts).toHaveLength(1));
  expect(receipts[0]?.sandbox?.changes).toMatchObject({ changed: 1 });
  await manager.dispose();
  const [listed] = await listChanges({ workspace: cwd });
  await revertChanges(listed?.id ?? '');
  expect(now(cwd)).toBe('before\n');
});

test('a detached command has them, too', async () => {
  const cwd = workspace();
  const subject = await tasks.start('echo x >a', { cwd, undo: true });
  await untilState(subject, 'ended');
  const { state } = subject;
  const receipt = state.kind === 'ended' ? state.receipt : undefined;
  expect(receipt?.sandbox?.changes).toMatchObject({ changed: 1 });
  const [listed] = await listChanges({ workspace: cwd });
  expect(listed).toMatchObject({ command: 'echo x >a', cwd, changed: 1 });
  await revertChanges(listed?.id ?? '');
  expect(now(cwd)).toBe('before\n');
});
