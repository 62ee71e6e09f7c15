import { expect, test } from 'vitest';
import { LastingTasks } from '../../src/fleet/lasting-tasks.js';
import { TaskManager } from '../../src/tasks/manager.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

leavesNothingBehind();

test('a listener is told of tasks where the tool is now, and of none where it was (Q14)', async () => {
  const [first, second] = [new TaskManager(), new TaskManager()];
  const tasks = new LastingTasks(first);
  // Their tasks have other names.
  await (await second.start('true')).ended;
  const told: string[] = [];
  const stop = tasks.subscribe(({ task }) => told.push(task.id));
  tasks.becomes(second);
  const before = await first.start('true');
  await before.ended;
  const now = await tasks.start('true');
  await now.ended;
  expect(now.id).not.toBe(before.id);
  await eventually(() => expect(told).toContain(now.id));
  // What is told of the first was due before.
  expect(told).not.toContain(before.id);
  stop();
  const count = told.length;
  await (await second.start('true; : later')).ended;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(told).toHaveLength(count);
  for (const manager of [first, second]) manager.dispose();
});
