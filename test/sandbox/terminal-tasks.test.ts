import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { data, useSessionTools } from '../support/session.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind(1);
const folder = useFolder();
const newSession = useSessionTools(folder);

test('T: in a sandbox a terminal works likewise', async () => {
  const tool = newSession({ sandbox: 'workspace-write' });
  const command = 'tty; read -rsp "Password: " x; echo ok';
  const started = await data(tool, command, { run_in_background: true, pty: true });
  const task_id = String(started.task_id);
  const asked = await tool.taskOutput.execute({ task_id, silent: 0.5 });
  expect(textOf(asked)).toMatch(/\n\/dev\/pts\/\d+\nPassword:\n.*It asks for a password/s);
  expect(textOf(await tool.writeTask.execute({ task_id, text: 'x\n' }))).toContain('ok');
});
