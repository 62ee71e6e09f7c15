import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ToldNews } from '../../src/index.js';
import { type Connection, connect } from '../../src/remote/index.js';
import { FAR_SIDE } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
let far: Connection;
beforeAll(async () => {
  far = await connect({ command: FAR_SIDE });
});
afterAll(() => far.dispose());

test('watches of a tool on the far side are told here, each once', async () => {
  const bash = await far.createBashTool({ contract: 'session', cwd: folder.path, notify: true });
  const told: ToldNews[] = [];
  bash.tasks?.subscribe(({ news }) => {
    told.push(...news.filter(({ watch, unmet }) => (watch ?? unmet) !== undefined));
  });
  const notify = { line: 'ready', silent: 1, port: 9, ended: true };
  const command = 'echo ready; sleep 3; echo ready; exit 3';
  await bash.execute({ command, run_in_background: true, notify });
  await eventually(() => expect(told).toHaveLength(3));
  expect(told).toMatchObject([
    { kind: 'line', line: 'ready', watch: 'line' },
    { kind: 'silent', watch: 'silent' },
    { kind: 'ended', watch: 'ended', unmet: ['port'] },
  ]);
  const asked = { command: 'sleep .3; echo ready', run_in_background: true, notify };
  const id = (await bash.execute(asked)).details.task?.id ?? '';
  const said = await bash.taskOutput.execute({ task_id: id, line: 'ready' });
  expect(textOf(said)).toContain('It has printed: ready');
  await bash.killTask.execute({ task_id: id });
  expect(told.filter(({ watch }) => watch === 'line')).toHaveLength(1);
  await bash.dispose();
});

test('where nobody here listens, nobody there does', async () => {
  const bash = await far.createBashTool({ contract: 'session', cwd: folder.path, notify: true });
  const asked = { command: 'true', run_in_background: true, notify: { ended: true } };
  expect(await failureOf(bash.execute(asked))).toMatchObject({
    message: 'notify: the host of this tool listens to no events; wait for them instead',
  });
  await bash.dispose();
});
