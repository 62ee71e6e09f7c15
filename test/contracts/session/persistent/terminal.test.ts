import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { data, useSessionTools } from '../../../support/session.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('T: beside a persistent shell a terminal is had too, in its directory', async () => {
  const tool = newSession({ persistent: true });
  await tool.execute({ command: 'mkdir "c d"; cd "c d"' });
  const background = { run_in_background: true, pty: true };
  const { task_id } = await data(tool, 'pwd; read -r x', background);
  const looked = await tool.taskOutput.execute({ task_id: String(task_id), silent: 0.3 });
  expect(textOf(looked)).toContain('/c d\n');
});
