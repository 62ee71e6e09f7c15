import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ChangeFacts, revertChanges, runInConsole } from '../../../src/index.js';
import { connect } from '../../../src/remote/index.js';
import { cli, program } from '../../support/cli.js';
import { FakeUi } from '../../support/console.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';
import { answerOf, useClients } from '../../support/mcp.js';
import { textOf } from '../../support/tool.js';

// Roads on which the changes are told by another process than the one that is asked.
leavesNothingBehind(20);
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();
const clients = useClients();

function workspace(): string {
  const work = newFolder();
  writeFileSync(join(work, 'a'), 'before\n');
  return work;
}

const now = (work: string): string => readFileSync(join(work, 'a'), 'utf8');

/** Checks what is known of one changed file, and takes it back. */
async function expectChanged(work: string, changes: ChangeFacts | undefined) {
  expect(changes).toMatchObject({ changed: 1, complete: true });
  expect(changes?.list).toMatchObject([{ kind: 'changed', path: join(work, 'a'), size: 2 }]);
  await revertChanges(changes?.id ?? '');
  expect(now(work)).toBe('before\n');
}

test('a far side tells what was changed, and how it is taken back', async () => {
  const far = await connect({ command: [process.execPath, program, 'serve', '--stdio'] });
  try {
    const cwd = workspace();
    const { changes } = await far.run('echo x >a', { cwd, undo: true });
    const where = `far side: run \`forkline revert ${changes?.id}\` there`;
    await expect(changes?.revert()).rejects.toThrow(where);
    await expectChanged(cwd, changes);
    const tool = await far.createBashTool({ contract: 'plain', cwd, undo: true });
    const said = textOf(await tool.execute({ command: 'echo x >a' }));
    expect(said).toContain('Changed 1 file (1 changed).');
    expect(tool.changes).toBeUndefined();
  } finally {
    await far.dispose();
  }
});

test('a command in a console has its changes', async () => {
  const cwd = workspace();
  const { result } = await runInConsole('echo x >a', { ui: new FakeUi(), cwd, undo: true });
  await expectChanged(cwd, result.changes);
});

test('forkline mcp --undo tells the client how much was changed', async () => {
  const work = workspace();
  const client = await clients.stdio(['--undo', '--cwd', work]);
  const result = await client.callTool({ name: 'bash', arguments: { command: 'echo x >a' } });
  expect(answerOf(result)).toContain('Changed 1 file (1 changed).');
});

test('forkline run --undo --detach has them in the list once it has ended', async () => {
  const work = workspace();
  const { stdout } = await cli('run', '--undo', '--detach', '--cwd', work, 'echo x >a');
  const task = String(stdout).trim();
  const attached = await cli('attach', task);
  expect(attached.stderr).toContain('forkline: Changed 1 file (1 changed).\n');
  const [listed] = JSON.parse(String((await cli('changes', '--json', '--workspace', work)).stdout));
  expect(listed).toMatchObject({ command: 'echo x >a', changed: 1 });
  expect((await cli('revert', listed.id)).code).toBe(0);
  expect(now(work)).toBe('before\n');
});
