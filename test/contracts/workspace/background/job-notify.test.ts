import { expect, test } from 'vitest';
import { createBashTool, type TaskEvent, type ToldNews } from '../../../../src/index.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { useJobTools } from '../../../support/tasks.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const makeTool = useJobTools();

function newTools() {
  const told: ToldNews[] = [];
  const onEvent = ({ news }: TaskEvent) => {
    told.push(...news.filter(({ watch, unmet }) => (watch ?? unmet) !== undefined));
  };
  return { ...makeTool({ notify: true, tasks: { onEvent } }), told };
}

test('a job tells what the model has asked for, each once', async () => {
  const { bash, job, told } = newTools();
  const notify = { line: 'ready', silent: 1, ended: true };
  await bash.execute({ command: 'echo ready; sleep 3; echo ready', async: true, notify });
  await eventually(() => expect(told).toHaveLength(3));
  expect(told.map(({ watch }) => watch)).toEqual(['line', 'silent', 'ended']);
  expect(textOf(await job({ poll: ['bg_1'] }))).toContain('ready\nready');
});

test('what a poll has told is not told by an event', async () => {
  const { bash, job, told } = newTools();
  const notify = { line: 'ready', ended: true };
  await bash.execute({ command: 'sleep .3; echo ready; sleep .3', async: true, notify });
  expect(textOf(await job({ poll: ['bg_1'], line: 'ready' }))).toContain('It has printed: ready');
  expect(textOf(await job({ poll: ['bg_1'] }))).toMatch(/^Job bg_1 completed/);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(told).toEqual([]);
});

test('it belongs to `async: true`, and to hosts that listen', async () => {
  const { bash } = newTools();
  const notify = { ended: true };
  await expect(bash.execute({ command: 'true', notify })).rejects.toThrow(
    'notify: expected to come with `async: true`',
  );
  const deaf = makeTool({ notify: true });
  await expect(deaf.bash.execute({ command: 'true', async: true, notify })).rejects.toThrow(
    'notify: the host of this tool listens to no events',
  );
  expect(() => createBashTool({ contract: 'workspace', cwd: '/', notify: true })).toThrow(
    'notify: expected to come with async: true and tasks',
  );
});
