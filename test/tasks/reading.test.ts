import { expect, test } from 'vitest';
import { type TaskEvent, TaskManager } from '../../src/index.js';
import { DetachedTask } from '../../src/tasks/detached/detached-task.js';
import { useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind, useOwners } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

const detached = useTasks();
leavesNothingBehind();
const newOwner = useOwners();

/** Prints what a person reads as `BUILD compiled successfully`, `100%` and `the end`. */
const PRINTS = [
  "printf '\\033[1mBUILD\\033[0m \\033[32mcompiled\\033[0m \\033[1msuccess\\033[0mfully\\n'",
  "printf ' 10%%\\r 55%%\\r100%%\\r'",
  "head -c 100000 /dev/zero | tr '\\0' x",
  "printf 'the end'",
  'sleep 60',
].join('; ');

const LINES = ['BUILD compiled successfully', '100%', 'the end'];

test('T4, T5: a wait finds what a person reads', async () => {
  const task = await new TaskManager().start(PRINTS, { owner: newOwner() });
  let since = 0;
  for (const line of LINES) {
    const awaited = await task.wait({ line, atMostMs: 20_000 }, { since });
    if (awaited.kind !== 'line') throw new Error(`expected a line, got ${awaited.kind}`);
    expect(awaited.line).toContain(line);
    expect(awaited.from).toBeGreaterThanOrEqual(since);
    since = awaited.cursor;
  }
  // Each was told, so none comes again.
  for (const line of LINES) {
    expect(await task.wait({ line, atMostMs: 50 }, { since })).toEqual({ kind: 'time' });
  }
});

test('T4, T5: so does a watch', async () => {
  const events: TaskEvent[] = [];
  const tasks = new TaskManager({
    onEvent: (event) => events.push(event),
    watch: { lines: LINES, ports: false },
  });
  await tasks.start(PRINTS, { owner: newOwner() });
  await eventually(() =>
    expect(
      events.flatMap(({ news }) => news.map((one) => one.kind === 'line' && one.pattern)),
    ).toEqual(LINES),
  );
});

test('T4, T5: so does a wait for a detached task', async () => {
  const task = new DetachedTask(await detached.start(PRINTS));
  for (const line of LINES) {
    expect(await task.wait({ line, atMostMs: 20_000 })).toMatchObject({ kind: 'line' });
  }
});

test('a wait for a line of a task that prints without end has its end in time', async () => {
  const task = new DetachedTask(
    await detached.start('exec yes', { maxOutputBytes: 64 * 1024 ** 2, graceMs: 0 }),
  );
  expect(await task.wait({ line: 'no', atMostMs: 300 })).toMatchObject({
    kind: expect.stringMatching(/^(?:time|ended)$/),
  });
});
