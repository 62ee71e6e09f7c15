import { expect, test } from 'vitest';
import { TaskManager } from '../../../../src/index.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { useJobTools, workOf } from '../../../support/tasks.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();

const makeTool = useJobTools();

test('L6: a tool that is disposed of frees its jobs, but not those of a manager that was given', async () => {
  const { bash, job } = makeTool();
  const tasks = new TaskManager();
  const other = makeTool({ tasks });
  await bash.execute({ command: 'true', async: true });
  await other.bash.execute({ command: 'true', async: true });
  await bash.dispose();
  await other.bash.dispose();
  expect((await job({ list: true })).details.jobs).toEqual([]);
  await eventually(() => expect(tasks.list()[0]?.end).toBeDefined());
});

test('L7: the list has the newest, those that run among them, and a count of the others', async () => {
  const tasks = new TaskManager({ maxRunning: 3000 });
  const { job } = makeTool({ tasks });
  const works = Array.from({ length: 2000 }, (_, index) => workOf(`work ${index + 1}`));
  const made = works.map((work) => tasks.add(work));
  for (const work of works.slice(1)) work.end({ result: 'completed', text: 'x'.repeat(30_000) });
  await Promise.all(made.slice(1).map(({ ended }) => ended));
  const lines = textOf(await job({ list: true })).split('\n');
  expect(lines).toHaveLength(51);
  expect(lines[0]).toBe('1950 older jobs are not listed.');
  expect(lines[1]).toMatch(/^bg_1 running for /);
  expect(lines[2]).toMatch(/^bg_1952 completed after /);
  expect(lines[50]).toMatch(/^bg_2000 completed after /);

  const first = textOf(await job({ poll: [] }));
  expect(first.length).toBeLessThan(140_000);
  expect(first).toMatch(
    /\n\n1995 more jobs: poll them next: 1975 older, bg_1981, (?:bg_\d+, )+bg_2000$/,
  );
  expect(textOf(await job({ poll: [] }))).toMatch(/\n\nJob bg_6 completed after /);
});
