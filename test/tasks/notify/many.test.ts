import { afterEach, expect, test, vi } from 'vitest';
import { CommandSubject } from '../../../src/tasks/command-subject.js';
import { TaskManager } from '../../../src/tasks/manager.js';
import { hostOrder } from '../../../src/tasks/notify/ledger.js';
import type { Notify, WatchName } from '../../../src/tasks/notify/notify.js';
import { workOf } from '../../support/tasks.js';

afterEach(() => {
  vi.useRealTimers();
});

/** Tasks that are watched, without processes. */
function watched(count: number, notify: Notify) {
  const told: (WatchName | undefined)[] = [];
  const onEvent = ({ news }: { readonly news: readonly { readonly watch?: WatchName }[] }) => {
    told.push(...news.flatMap(({ watch }) => watch ?? []));
  };
  const manager = new TaskManager({ maxRunning: count, watch: {}, onEvent });
  const works = Array.from({ length: count }, (_, index) => {
    const { subject, ...work } = workOf(`task ${index}`);
    if (!(subject instanceof CommandSubject)) throw new Error('expected a command');
    vi.spyOn(subject, 'members').mockResolvedValue([]);
    manager.add({ ...work, subject, watches: hostOrder(notify) });
    return { subject, end: () => work.end({ result: 'completed', text: '' }) };
  });
  const print = (text: string) => {
    for (const { subject } of works) subject.tell({ stream: 'output', text, droppedBytes: 0 });
  };
  return { manager, works, told, print };
}

test('a thousand watched tasks have no timers while nothing happens, and each tells once', async () => {
  vi.useFakeTimers();
  const { manager, works, told, print } = watched(1000, { line: 'ready', ended: true });
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(0);
  print('ready\n');
  await vi.advanceTimersByTimeAsync(1000);
  print('ready\n');
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual(works.map(() => 'line'));
  for (const { end } of works) end();
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.filter((watch) => watch === 'ended')).toHaveLength(1000);
  manager.dispose();
  expect(vi.getTimerCount()).toBe(0);
});

test('silence is waited for by one timer a task, and by none once it was told', async () => {
  vi.useFakeTimers();
  const { manager, works, told } = watched(100, { silentMs: 60_000 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(100);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual(works.map(() => 'silent'));
  expect(vi.getTimerCount()).toBe(0);
  manager.dispose();
});

test('of a flood of lines that match, one is kept, and the rest is not searched', async () => {
  vi.useFakeTimers();
  const { manager, works, told, print } = watched(1, { line: 'y' });
  const [{ subject } = { subject: undefined }] = works;
  print('y\n'.repeat(100_000));
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual(['line']);
  const read = vi.spyOn(subject as CommandSubject, 'read');
  print('y\n'.repeat(100_000));
  await vi.advanceTimersByTimeAsync(1000);
  // For the event's own output: its end, and how much there is.
  expect(read.mock.calls.every(([, maxBytes]) => maxBytes <= 4096)).toBe(true);
  expect(told).toEqual(['line']);
  manager.dispose();
});
