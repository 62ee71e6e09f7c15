import { afterEach, expect, test } from 'vitest';
import { attach, type BashTool, createBashTool, type SessionTool } from '../../../src/index.js';
import { useTasks } from '../../support/detached-tasks.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { data } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind(1);
const tasks = useTasks();
const keep = useDisposal();

let tool: SessionTool;

async function say(bash: BashTool, input: object): Promise<string> {
  return textOf(await bash.execute(input));
}

/** Starts a command on a terminal that outlives the host; gives its id. */
async function startTerminal(command: string): Promise<string> {
  const options = { taskLifetime: 'detached', cwd: tasks.folder.path, graceMs: 500 } as const;
  tool = keep(createBashTool({ contract: 'session', ...options }));
  const { task_id } = await data(tool, command, { run_in_background: true, pty: true });
  return tasks.note(String(task_id));
}

afterEach(() => tool.dispose());

test('a terminal that outlives the host is shown and typed into by any process', async () => {
  const command = 'stty size; read -rsp "Password: " x; echo; echo "got $x"; cat';
  const id = await startTerminal(command);
  const asked = await say(tool.taskOutput, { task_id: id, line: 'Password', seconds: 20 });
  expect(asked).toContain('40 120\nPassword:');
  expect(asked).toContain('It asks for a password (echo is off');
  const attached = await attach(id);
  await attached.write('secret\r');
  const told = await say(tool.taskOutput, { task_id: id, line: 'got secret', seconds: 20 });
  expect(told).toContain('got secret');
  const echoed = await say(tool.writeTask, { task_id: id, text: 'hi\n', line: 'hi' });
  expect(echoed).toContain('hi');
  await say(tool.writeTask, { task_id: id, columns: 90, rows: 30, seconds: 1 });
  await tool.dispose();
  await attached.press(['ctrl-d']);
  expect(await attached.wait({ ended: true, atMostMs: 20_000 })).toMatchObject({ kind: 'ended' });
  expect(attached.receipt?.outcome).toEqual({ kind: 'exited', exitCode: 0 });
});

test('what a program asks its terminal is answered', async () => {
  const ask = `stty -echo raw; printf '\\e[6n'; head -c 6 | od -An -c; stty sane; echo end`;
  const id = await startTerminal(`${ask}; read -r x`);
  const told = await say(tool.taskOutput, { task_id: id, line: 'end', seconds: 20 });
  expect(told).toContain('033   [   1   ;   1   R');
});

test('a resize by columns alone keeps the rows that the terminal has', async () => {
  const id = await startTerminal('while read -r x; do stty size; done');
  await say(tool.writeTask, { task_id: id, columns: 90, rows: 30, seconds: 1 });
  await say(tool.writeTask, { task_id: id, columns: 100, seconds: 1 });
  const told = await say(tool.writeTask, { task_id: id, text: '\n', line: '00', seconds: 10 });
  expect(told).toContain('30 100');
});
