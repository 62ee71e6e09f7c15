import { afterEach, expect, test, vi } from 'vitest';
import { TaskLimitError, UnknownTaskError } from '../../src/tasks/errors.js';
import { waitForFirst } from '../../src/tasks/first-of.js';
import { TaskManager } from '../../src/tasks/manager.js';
import type { TaskEnd, TaskStatus } from '../../src/tasks/status.js';
import { fc } from '../support/properties.js';
import { failureOf } from '../support/results.js';
import { workOf } from '../support/tasks.js';

afterEach(() => {
  vi.useRealTimers();
});

/** So long that it is not the time that ends a wait. */
const LONG = { atMostMs: 60_000 };

const done: TaskEnd = { result: 'completed', text: 'done' };

test('ids count from 1 and are not reused', async () => {
  const manager = new TaskManager();
  const first = workOf('a');
  expect(manager.add(first).id).toBe('bg_1');
  first.end(done);
  expect(manager.add(workOf('b')).id).toBe('bg_2');
  expect(manager.list().map(({ label }) => label)).toEqual(['a', 'b']);
});

test('no more tasks run than allowed; one that has ended makes room', async () => {
  const manager = new TaskManager({ maxRunning: 2 });
  const works = [workOf('a'), workOf('b')];
  const tasks = works.map((work) => manager.add(work));
  expect(() => manager.add(workOf('c'))).toThrow(TaskLimitError);
  expect(() => manager.checkRoom()).toThrow(
    'Too many commands in the background: 2 run, which is the most. This one was not run. ' +
      'Wait for one or end one: bg_1, bg_2',
  );
  works[0]?.end(done);
  await tasks[0]?.ended;
  expect(manager.add(workOf('c')).id).toBe('bg_3');
});

test('fifteen tasks may run by default', () => {
  const manager = new TaskManager();
  for (let count = 0; count < 15; count += 1) manager.add(workOf('x'));
  expect(manager.hasRoom()).toBe(false);
});

test('a task that has ended is forgotten after five minutes, by a timer that keeps no host alive', async () => {
  vi.useFakeTimers();
  const manager = new TaskManager();
  const work = workOf('a');
  const task = manager.add(work);
  work.end(done);
  await task.ended;
  await vi.advanceTimersByTimeAsync(299_000);
  expect(manager.find('bg_1')).toBe(task);
  await vi.advanceTimersByTimeAsync(2000);
  expect(() => manager.find('bg_1')).toThrow('Unknown id: bg_1. Nothing is in the background.');
});

test('L6: a task whose end was delivered keeps neither its text nor its work', async () => {
  const manager = new TaskManager();
  const work = workOf('a');
  const task = manager.add(work);
  expect(task.tail()).toBe('tail of a');
  work.end(done);
  expect(await task.ended).toEqual(done);
  expect(task.tail()).toBe('');
  expect(task.end).toEqual(done);
  expect(task.take()).toEqual(done);
  expect(task.end).toEqual({ result: 'completed', text: '' });
  expect(await task.ended).toEqual({ result: 'completed', text: '' });
  expect(task.status()).toMatchObject({ state: 'ended', result: 'completed' });
  expect(task.take()).toBeUndefined();
});

test('L6: a manager that is disposed of forgets all tasks at once, and has no timers', async () => {
  vi.useFakeTimers();
  const manager = new TaskManager();
  const [ended, runs] = [workOf('a'), workOf('b')];
  const tasks = [manager.add(ended), manager.add(runs)];
  ended.end(done);
  await tasks[0]?.ended;
  expect(vi.getTimerCount()).toBe(1);
  manager.dispose();
  expect(vi.getTimerCount()).toBe(0);
  expect(manager.list().map(({ id }) => id)).toEqual(['bg_2']);
  runs.end(done);
  await tasks[1]?.ended;
  expect(manager.list()).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('L7: of many tasks the error names the newest, and counts the others', async () => {
  const manager = new TaskManager({ maxRunning: 3000 });
  for (let count = 0; count < 2000; count += 1) manager.add(workOf('x'));
  const { message } = (await failureOf((async () => manager.find('no'))())) as Error;
  expect(message).toMatch(
    /^Unknown id: no\. Available: 1980 older, bg_1981, (?:bg_19\d\d, )+bg_2000$/,
  );
});

test('the error for an unknown id lists the known ones', () => {
  const manager = new TaskManager();
  manager.add(workOf('a'));
  manager.add(workOf('b'));
  expect(() => manager.find('bg_9')).toThrow(UnknownTaskError);
  expect(() => manager.find('bg_9')).toThrow('Unknown id: bg_9. Available: bg_1, bg_2');
});

test('the end of a task without a waiting caller is reported once, to the runtime', async () => {
  const told: [TaskStatus, TaskEnd][] = [];
  const manager = new TaskManager({ onEnd: (status, end) => told.push([status, end]) });
  const work = workOf('a');
  const task = manager.add(work);
  work.end(done);
  await task.ended;
  expect(told).toEqual([
    [
      {
        id: 'bg_1',
        type: 'bash',
        state: 'ended',
        result: 'completed',
        label: 'a',
        lifetime: 'tool',
        durationMs: expect.any(Number),
      },
      done,
    ],
  ]);
  expect(task.take()).toBeUndefined();
});

test('a callback of the runtime that throws causes a warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const manager = new TaskManager({
    onEnd: () => {
      throw new Error('gone');
    },
  });
  const work = workOf('a');
  const task = manager.add(work);
  work.end(done);
  await task.ended;
  expect(warned).toHaveBeenCalledWith('onEnd threw for task bg_1: Error: gone');
  warned.mockRestore();
});

test('a waiting caller gets the first end, and the runtime the others', async () => {
  const told: string[] = [];
  const manager = new TaskManager({ onEnd: ({ id }) => told.push(id) });
  const works = [workOf('a'), workOf('b')];
  const tasks = works.map((work) => manager.add(work));
  const waiting = waitForFirst(tasks, LONG, undefined);
  works[1]?.end(done);
  await waiting;
  expect(tasks.map((task) => task.take())).toEqual([undefined, done]);
  works[0]?.end(done);
  await tasks[0]?.ended;
  expect(told).toEqual(['bg_1']);
});

test('waiting ends when the time is up, and when it is cancelled', async () => {
  const manager = new TaskManager();
  const task = manager.add(workOf('a'));
  await waitForFirst([task], { atMostMs: 10 }, undefined);
  expect(task.isAwaited).toBe(false);
  const controller = new AbortController();
  const waiting = failureOf(waitForFirst([task], LONG, controller.signal));
  controller.abort('enough');
  expect(await waiting).toBe('enough');
  await new Promise(setImmediate);
  expect(task.isAwaited).toBe(false);
});

test('each end is reported exactly once, in any order of events', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('end' as const), task: fc.nat(4) }),
    fc.record({ kind: fc.constant('cancel' as const), task: fc.nat(4) }),
    fc.record({ kind: fc.constant('poll' as const), task: fc.nat(4) }),
    fc.record({ kind: fc.constant('breathe' as const), task: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), async (steps, hook) => {
      const told: string[] = [];
      const manager = new TaskManager(hook ? { onEnd: ({ id }) => void told.push(id) } : {});
      const works = ['a', 'b', 'c', 'd', 'e'].map(workOf);
      const tasks = works.map((work) => manager.add(work));
      const polls: Promise<unknown>[] = [];
      const poll = async (index: number): Promise<void> => {
        const task = tasks[index];
        if (task === undefined) return;
        await waitForFirst([task], LONG, undefined);
        if (task.take() !== undefined) told.push(task.id);
      };
      for (const { kind, task } of steps) {
        if (kind === 'end') works[task]?.end(done);
        else if (kind === 'cancel') void tasks[task]?.stop();
        else if (kind === 'poll') polls.push(poll(task));
        else await new Promise(setImmediate);
      }
      for (const work of works) work.end(done);
      await Promise.all(polls);
      await Promise.all(tasks.map((_, index) => poll(index)));
      expect(told.sort()).toEqual(['bg_1', 'bg_2', 'bg_3', 'bg_4', 'bg_5']);
    }),
    { numRuns: 200 },
  );
});

test.each([
  [{ maxRunning: 0 }, 'maxRunning: expected a whole number from 1, got 0'],
  [{ keepMs: 0.5 }, 'keepMs: expected a whole number from 1, got 0.5'],
])('the options %j are refused', (options, message) => {
  expect(() => new TaskManager(options)).toThrow(message);
});

test('C3: ended tasks can be kept for longer than the longest timer of Node', async () => {
  vi.useFakeTimers();
  const manager = new TaskManager({ keepMs: 2 ** 31 + 1000 });
  const work = workOf('a');
  const task = manager.add(work);
  work.end(done);
  await task.ended;
  await vi.advanceTimersByTimeAsync(2 ** 31);
  expect(manager.find(task.id)).toBe(task);
  await vi.advanceTimersByTimeAsync(1000);
  expect(() => manager.find(task.id)).toThrow(UnknownTaskError);
});

test('C7: waiting for many tasks at once is no leak of listeners to Node', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', note);
  const manager = new TaskManager({ maxRunning: 30 });
  const tasks = Array.from({ length: 20 }, () => manager.add(workOf('x')));
  await waitForFirst(tasks, { atMostMs: 20 }, undefined);
  // Node tells of them in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
