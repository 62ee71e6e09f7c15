import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { JobEnd, JobStatus } from '../../src/jobs/job.js';
import { JobLimitError, JobManager, UnknownJobError } from '../../src/jobs/manager.js';
import { waitForFirst } from '../../src/jobs/wait.js';
import { workOf } from '../support/jobs.js';
import { failureOf } from '../support/results.js';

afterEach(() => {
  vi.useRealTimers();
});

const done: JobEnd = { state: 'completed', text: 'done' };

test('ids count from 1 and are not given again', async () => {
  const manager = new JobManager();
  const first = workOf('a');
  expect(manager.add(first).id).toBe('bg_1');
  first.end(done);
  expect(manager.add(workOf('b')).id).toBe('bg_2');
  expect(manager.list().map(({ label }) => label)).toEqual(['a', 'b']);
});

test('no more run than may; one that has ended makes room', async () => {
  const manager = new JobManager({ maxRunning: 2 });
  const works = [workOf('a'), workOf('b')];
  const jobs = works.map((work) => manager.add(work));
  expect(() => manager.add(workOf('c'))).toThrow(JobLimitError);
  expect(() => manager.checkRoom()).toThrow(
    'Too many background jobs: 2 are running, and no more may. ' +
      'Wait for one or cancel one with the job tool: bg_1, bg_2',
  );
  works[0]?.end(done);
  await jobs[0]?.ended;
  expect(manager.add(workOf('c')).id).toBe('bg_3');
});

test('fifteen may run unless it is said otherwise', () => {
  const manager = new JobManager();
  for (let count = 0; count < 15; count += 1) manager.add(workOf('x'));
  expect(manager.hasRoom()).toBe(false);
});

test('a job that has ended is forgotten after five minutes, by a timer that holds nothing up', async () => {
  vi.useFakeTimers();
  const manager = new JobManager();
  const work = workOf('a');
  const job = manager.add(work);
  work.end(done);
  await job.ended;
  await vi.advanceTimersByTimeAsync(299_000);
  expect(manager.find('bg_1')).toBe(job);
  await vi.advanceTimersByTimeAsync(2000);
  expect(() => manager.find('bg_1')).toThrow('Unknown job id: bg_1. There are no background jobs.');
});

test('L6: a job whose end was delivered keeps neither its text nor what made it', async () => {
  const manager = new JobManager();
  const work = workOf('a');
  const job = manager.add(work);
  expect(job.tail()).toBe('tail of a');
  work.end(done);
  expect(await job.ended).toEqual(done);
  expect(job.tail()).toBe('');
  expect(job.end).toEqual(done);
  expect(job.take()).toEqual(done);
  expect(job.end).toEqual({ state: 'completed', text: '' });
  expect(await job.ended).toEqual({ state: 'completed', text: '' });
  expect(job.status().state).toBe('completed');
  expect(job.take()).toBeUndefined();
});

test('L6: a manager that is disposed of forgets all at once, and waits for nothing', async () => {
  vi.useFakeTimers();
  const manager = new JobManager();
  const [ended, runs] = [workOf('a'), workOf('b')];
  const jobs = [manager.add(ended), manager.add(runs)];
  ended.end(done);
  await jobs[0]?.ended;
  expect(vi.getTimerCount()).toBe(1);
  manager.dispose();
  expect(vi.getTimerCount()).toBe(0);
  expect(manager.list().map(({ id }) => id)).toEqual(['bg_2']);
  runs.end(done);
  await jobs[1]?.ended;
  expect(manager.list()).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('L7: of many jobs the newest are named, and a count of the others', async () => {
  const manager = new JobManager({ maxRunning: 3000 });
  for (let count = 0; count < 2000; count += 1) manager.add(workOf('x'));
  const { message } = (await failureOf((async () => manager.find('no'))())) as Error;
  expect(message).toMatch(
    /^Unknown job id: no\. Available: 1980 older, bg_1981, (?:bg_19\d\d, )+bg_2000$/,
  );
});

test('an unknown id is told with those that there are', () => {
  const manager = new JobManager();
  manager.add(workOf('a'));
  manager.add(workOf('b'));
  expect(() => manager.find('bg_9')).toThrow(UnknownJobError);
  expect(() => manager.find('bg_9')).toThrow('Unknown job id: bg_9. Available: bg_1, bg_2');
});

test('the end of a job that nobody waits for is told once, to the runtime', async () => {
  const told: [JobStatus, JobEnd][] = [];
  const manager = new JobManager({ onEnd: (status, end) => told.push([status, end]) });
  const work = workOf('a');
  const job = manager.add(work);
  work.end(done);
  await job.ended;
  expect(told).toEqual([
    [
      { id: 'bg_1', type: 'bash', state: 'completed', label: 'a', durationMs: expect.any(Number) },
      done,
    ],
  ]);
  expect(job.take()).toBeUndefined();
});

test('a runtime that throws costs a warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const manager = new JobManager({
    onEnd: () => {
      throw new Error('gone');
    },
  });
  const work = workOf('a');
  const job = manager.add(work);
  work.end(done);
  await job.ended;
  expect(warned).toHaveBeenCalledWith('onEnd threw for job bg_1: Error: gone');
  warned.mockRestore();
});

test('whoever waits gets the first end, and the runtime the others', async () => {
  const told: string[] = [];
  const manager = new JobManager({ onEnd: ({ id }) => told.push(id) });
  const works = [workOf('a'), workOf('b')];
  const jobs = works.map((work) => manager.add(work));
  const waiting = waitForFirst(jobs, 60_000, undefined);
  works[1]?.end(done);
  await waiting;
  expect(jobs.map((job) => job.take())).toEqual([undefined, done]);
  works[0]?.end(done);
  await jobs[0]?.ended;
  expect(told).toEqual(['bg_1']);
});

test('waiting ends when the time is up, and when it is cancelled', async () => {
  const manager = new JobManager();
  const job = manager.add(workOf('a'));
  await waitForFirst([job], 10, undefined);
  expect(job.isAwaited).toBe(false);
  const controller = new AbortController();
  const waiting = failureOf(waitForFirst([job], 60_000, controller.signal));
  controller.abort('enough');
  expect(await waiting).toBe('enough');
  await new Promise(setImmediate);
  expect(job.isAwaited).toBe(false);
});

test('whatever happens in whatever order, each end is told exactly once', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('end' as const), job: fc.nat(4) }),
    fc.record({ kind: fc.constant('cancel' as const), job: fc.nat(4) }),
    fc.record({ kind: fc.constant('poll' as const), job: fc.nat(4) }),
    fc.record({ kind: fc.constant('breathe' as const), job: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), async (steps, hook) => {
      const told: string[] = [];
      const manager = new JobManager(hook ? { onEnd: ({ id }) => void told.push(id) } : {});
      const works = ['a', 'b', 'c', 'd', 'e'].map(workOf);
      const jobs = works.map((work) => manager.add(work));
      const polls: Promise<void>[] = [];
      const poll = async (index: number): Promise<void> => {
        const job = jobs[index];
        if (job === undefined) return;
        await waitForFirst([job], 60_000, undefined);
        if (job.take() !== undefined) told.push(job.id);
      };
      for (const { kind, job } of steps) {
        if (kind === 'end') works[job]?.end(done);
        else if (kind === 'cancel') jobs[job]?.cancel();
        else if (kind === 'poll') polls.push(poll(job));
        else await new Promise(setImmediate);
      }
      for (const work of works) work.end(done);
      await Promise.all(polls);
      await Promise.all(jobs.map((_, index) => poll(index)));
      expect(told.sort()).toEqual(['bg_1', 'bg_2', 'bg_3', 'bg_4', 'bg_5']);
    }),
    { numRuns: 200 },
  );
});

test.each([
  [{ maxRunning: 0 }, 'maxRunning: expected a whole number from 1, got 0'],
  [{ keepMs: 0.5 }, 'keepMs: expected a whole number from 1, got 0.5'],
])('the options %j are refused', (options, message) => {
  expect(() => new JobManager(options)).toThrow(message);
});

test('C3: what has ended is kept for more than the longest time that a timer of Node knows', async () => {
  vi.useFakeTimers();
  const manager = new JobManager({ keepMs: 2 ** 31 + 1000 });
  const work = workOf('a');
  const job = manager.add(work);
  work.end(done);
  await job.ended;
  await vi.advanceTimersByTimeAsync(2 ** 31);
  expect(manager.find(job.id)).toBe(job);
  await vi.advanceTimersByTimeAsync(1000);
  expect(() => manager.find(job.id)).toThrow(UnknownJobError);
});

test('C7: waiting for many jobs at once is no leak of listeners to Node', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', note);
  const manager = new JobManager({ maxRunning: 30 });
  const jobs = Array.from({ length: 20 }, () => manager.add(workOf('x')));
  await waitForFirst(jobs, 20, undefined);
  // Node tells of them in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
