import { setImmediate as tick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ExclusiveQueue } from '../../src/support/mutex.js';

function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('tasks run one at a time, in their order', async () => {
  const queue = new ExclusiveQueue();
  const log: string[] = [];
  const task = (name: string) => async () => {
    log.push(`${name} begins`);
    await tick();
    log.push(`${name} ends`);
    return name;
  };
  const names = ['a', 'b', 'c'];
  const results = await Promise.all(names.map((name) => queue.run(task(name))));
  expect(results).toEqual(names);
  expect(log).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test('a task that fails lets the next one run', async () => {
  const queue = new ExclusiveQueue();
  const failed = queue.run(() => Promise.reject(new Error('no')));
  const next = queue.run(async () => 'yes');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('yes');
  expect(await queue.run(async () => 'again')).toBe('again');
});

test('a task that waits can be cancelled, and never runs', async () => {
  const queue = new ExclusiveQueue();
  const { open, opened } = gate();
  const controller = new AbortController();
  let ran = false;
  const first = queue.run(() => opened);
  const second = queue.run(async () => {
    ran = true;
  }, controller.signal);
  const third = queue.run(async () => 'third');
  controller.abort(new Error('changed my mind'));
  await expect(second).rejects.toThrow('changed my mind');
  open();
  await first;
  expect(await third).toBe('third');
  expect(ran).toBe(false);
});

test('aborting later does not disturb the queue', async () => {
  const queue = new ExclusiveQueue();
  const { open, opened } = gate();
  const controller = new AbortController();
  const first = queue.run(() => opened);
  const second = queue.run(() => tick('second'), controller.signal);
  const third = queue.run(async () => 'third');
  open();
  await first;
  controller.abort();
  expect(await second).toBe('second');
  expect(await third).toBe('third');
});

test('a signal aborted before rejects at once', async () => {
  const reason = new Error('before');
  const run = new ExclusiveQueue().run(async () => 1, AbortSignal.abort(reason));
  await expect(run).rejects.toBe(reason);
});

test('clearing rejects waiting tasks and lets the running one finish', async () => {
  const queue = new ExclusiveQueue();
  const { open, opened } = gate();
  const first = queue.run(() => opened.then(() => 'first'));
  const second = queue.run(async () => 'second');
  queue.clear(new Error('closed'));
  await expect(second).rejects.toThrow('closed');
  open();
  expect(await first).toBe('first');
});
