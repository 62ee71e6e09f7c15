import { expect, test } from 'vitest';
import { type TaskEvent, TaskManager, type TaskManagerOptions } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { eventually, isGone } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();

/** Starts tasks that end with the test. */
function newTasks(options: TaskManagerOptions = {}) {
  const manager = new TaskManager({ maxRunning: 500, ...options });
  const owner = newOwner();
  const start: TaskManager['start'] = (command, own) =>
    manager.start(command, { owner, graceMs: 500, ...own });
  return { manager, start };
}

const SERVER =
  "exec python3 -c \"import socket,time; s=socket.socket(); s.bind(('127.0.0.1',0)); " +
  's.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)"';

test('output is read by a cursor, and no byte twice', async () => {
  const { start } = newTasks();
  const task = await start('echo one; read -r x; echo $x', { stdin: 'pipe' });
  await task.wait({ line: 'one' });
  const first = await task.read();
  expect(first).toEqual({ text: 'one\n', cursor: 4, missedBytes: 0, total: 4 });
  await task.write('zwei €\n');
  expect(await task.wait({})).toMatchObject({ kind: 'ended', running: 0 });
  expect(await task.read({ since: first.cursor })).toMatchObject({ text: 'zwei €\n', cursor: 13 });
  expect(await task.read({ since: 1, maxBytes: 4 })).toMatchObject({ text: 'ne\nz', cursor: 5 });
});

test('output beyond the memory limit is a gap, or is read from the file', async () => {
  const { start } = newTasks();
  const command = 'seq -f %0199.0f 5000';
  const [without, beside] = [
    await start(command),
    await start(command, { spill: folder.file('all') }),
  ];
  await Promise.all([without.wait({}), beside.wait({})]);
  const gap = await without.read();
  expect(gap.missedBytes).toBeGreaterThanOrEqual(1_000_000 - 256 * 1024);
  expect(gap.missedBytes).toBeLessThan(1_000_000 - 128 * 1024);
  expect(gap.total).toBe(1_000_000);
  const all = await beside.read({ maxBytes: 400 });
  expect(all).toMatchObject({ missedBytes: 0, cursor: 400 });
  expect(all.text).toBe(`${'1'.padStart(199, '0')}\n${'2'.padStart(199, '0')}\n`);
});

test('a wait ends with the first event', async () => {
  const { start } = newTasks();
  const task = await start('echo loading; sleep .2; echo ready to go; sleep 60');
  expect(await task.wait({ line: /^ready (?<what>.*)$/, atMostMs: 20_000 })).toMatchObject({
    kind: 'line',
    line: 'ready to go',
  });
  // What was printed before counts, unless it is left out.
  expect(await task.wait({ line: 'loading' })).toMatchObject({ kind: 'line' });
  const { cursor } = await task.read();
  expect(await task.wait({ line: 'loading', atMostMs: 50 }, { since: cursor })).toEqual({
    kind: 'time',
  });
  expect(await task.wait({ silentMs: 100 })).toMatchObject({ kind: 'silent', waitsFor: undefined });
  const controller = new AbortController();
  const waiting = failureOf(task.wait({}, { signal: controller.signal }));
  controller.abort('enough');
  expect(await waiting).toBe('enough');
  await task.stop();
  expect(await task.wait({ line: 'never' })).toMatchObject({ kind: 'ended' });
});

test('a port counts when a process of this very command listens on it', async () => {
  const { start } = newTasks();
  const [one, other] = [await start(SERVER), await start(SERVER)];
  const port = async (task: typeof one): Promise<number> => {
    await task.wait({ line: /^\d+$/ });
    return Number.parseInt((await task.read()).text, 10);
  };
  const [first, second] = [await port(one), await port(other)];
  expect(await one.wait({ port: true })).toEqual({
    kind: 'listening',
    port: first,
    address: '127.0.0.1',
  });
  expect(await one.wait({ port: second, atMostMs: 300 })).toEqual({ kind: 'time' });
  expect(await other.wait({ port: second })).toMatchObject({ port: second });
});

test('for a silent command it is found out whether it reads its stdin, or its terminal', async () => {
  const { start } = newTasks();
  const [pipe, terminal, busy] = [
    await start('read -r x', { stdin: 'pipe' }),
    await start('read -r x', { pty: true }),
    await start('sleep 60', { stdin: 'pipe' }),
  ];
  const silent = { silentMs: 200 };
  expect(await pipe.wait(silent)).toMatchObject({ waitsFor: 'stdin' });
  expect(await terminal.wait(silent)).toMatchObject({ waitsFor: 'terminal' });
  expect(await busy.wait(silent)).toMatchObject({ waitsFor: undefined });
});

test('a terminal can be typed into, interrupted and looked at', async () => {
  const { start } = newTasks();
  const task = await start('PS1="ready> " exec bash --norc -i', { pty: { columns: 60, rows: 10 } });
  await task.wait({ line: 'ready> ' });
  await task.write('clear; printf "\\033[3;5Hhere"; sleep 60\r');
  await task.wait({ line: 'here' });
  await eventually(async () => expect((await task.screen()).split('\n')[2]).toBe('    here'));
  await task.write('\x03');
  await eventually(async () => expect(await task.screen()).toContain('^C\nready>'));
  await task.stop();
});

test('a command that has ended and left processes is left, and gone when they are', async () => {
  const events: TaskEvent[] = [];
  const { start } = newTasks({ onEvent: (event) => events.push(event) });
  const task = await start(`${longSleep(7001)} & echo $!`);
  expect(await task.wait({})).toMatchObject({ kind: 'ended', running: 1 });
  await task.ended;
  expect(task.status()).toMatchObject({ state: 'left', result: 'completed' });
  expect(await task.members()).toMatchObject([{ command: longSleep(7001) }]);
  expect(await task.wait({ gone: true, atMostMs: 100 })).toEqual({ kind: 'time' });
  await task.stop();
  expect(task.state).toBe('ended');
  expect(sleeping(7001)).toEqual([]);
  expect(await task.wait({ gone: true })).toEqual({ kind: 'gone' });
  await eventually(() =>
    expect(events.flatMap(({ news }) => news.map(({ kind }) => kind))).toEqual(['ended', 'gone']),
  );
});

test('a task whose cradle is killed is lost', async () => {
  const { start } = newTasks();
  const task = await start(`${longSleep(7002)} & ps -o ppid= -p $$`);
  await task.ended;
  const cradle = Number.parseInt((await task.read()).text, 10);
  const left = (await task.members()) ?? [];
  process.kill(cradle, 'SIGKILL');
  expect(await task.wait({ gone: true })).toMatchObject({ kind: 'lost' });
  expect(task.state).toBe('lost');
  await eventually(() => expect(left.every(({ pid }) => isGone(pid))).toBe(true));
});

test('a task runs until its signal is aborted, or its owner disposed of', async () => {
  const { start } = newTasks();
  const controller = new AbortController();
  const owner = newOwner();
  const called = await start(longSleep(7003), { signal: controller.signal });
  const owned = await start(longSleep(7003), { owner });
  controller.abort();
  expect(await called.ended).toMatchObject({ result: 'cancelled' });
  await owner.dispose(100);
  expect(await owned.ended).toMatchObject({ result: 'cancelled' });
});

test('a flood of output is reported at most every 200 ms, and the end is not lost', async () => {
  const events: [number, TaskEvent][] = [];
  const { start } = newTasks({ onEvent: (event) => events.push([performance.now(), event]) });
  const task = await start('timeout 1 yes; echo over');
  await task.ended;
  await eventually(() => expect(events.at(-1)?.[1].news.at(-1)).toEqual({ kind: 'gone' }));
  const between = events.slice(1).map(([at], index) => at - (events[index]?.[0] ?? 0));
  expect(Math.min(...between)).toBeGreaterThan(150);
  const floods = events.filter(([, { output }]) => output?.flood);
  expect(floods.length).toBeGreaterThan(0);
  for (const [, { output }] of floods) expect(output?.text.length).toBeLessThanOrEqual(4096);
  // All of it is accounted for, shown or not.
  const counted = events.map(([, { output }]) =>
    output === undefined ? 0 : Buffer.byteLength(output.text) + output.missedBytes,
  );
  const { total } = await task.read({ since: Number.MAX_SAFE_INTEGER });
  expect(counted.reduce((sum, bytes) => sum + bytes, 0)).toBe(total);
  // With the news that it is gone, or before.
  const last = events.findLast(([, { output }]) => output !== undefined);
  expect(last?.[1].output?.text.endsWith('over\n')).toBe(true);
});

test('no event of 200 simultaneous tasks is lost', where(descriptors(4096)), async () => {
  const texts = new Map<string, string>();
  const news = new Map<string, string[]>();
  const { manager, start } = newTasks({
    onEvent: ({ task, output, news: told }) => {
      texts.set(task.label, (texts.get(task.label) ?? '') + (output?.text ?? ''));
      news.set(task.label, [...(news.get(task.label) ?? []), ...told.map(({ kind }) => kind)]);
    },
    watch: { lines: ['half'] },
  });
  const names = Array.from({ length: 200 }, (_, index) => `task ${index}`);
  await Promise.all(
    names.map((label) =>
      start(`echo begun; sleep .3; echo half; sleep .3; echo ${label}`, { label }),
    ),
  );
  await manager.settled();
  await eventually(() => {
    for (const name of names) {
      expect(texts.get(name)).toBe(`begun\nhalf\n${name}\n`);
      expect(news.get(name)).toEqual(['line', 'ended', 'gone']);
    }
  });
});

test('a listener that throws is reported once, and not called again', async () => {
  const { start, manager } = newTasks({
    onEvent: () => {
      throw new Error('display gone');
    },
  });
  const told: string[] = [];
  const stop = manager.subscribe(({ task }) => told.push(task.id));
  const task = await start('echo hi');
  await task.ended;
  await eventually(() => expect(told).toContain('bg_1'));
  stop();
});

test.each<[Parameters<Awaited<ReturnType<TaskManager['start']>>['wait']>, string]>([
  [[{ line: '' }], 'until.line: expected a text that is not empty or a RegExp, got ""'],
  [[{ port: 0 }], 'until.port: expected a whole number from 1 to 65535, got 0'],
  [[{ silentMs: -1 }], 'until.silentMs: expected a number from 0, got -1'],
  [[{}, { since: 0.5 }], 'since: expected a whole number from 0, got 0.5'],
])('a wait with %j is refused', async (wait, message) => {
  const { start } = newTasks();
  const task = await start('true');
  expect(await failureOf(task.wait(...wait))).toMatchObject({ message });
});

test('writing to a task that was started without an input is an error', async () => {
  const { start } = newTasks();
  const task = await start('sleep 60');
  expect(await failureOf(task.write('x'))).toMatchObject({
    message: 'write: expected a task with an open stdin',
  });
  expect(await failureOf(task.screen())).toMatchObject({
    message: 'screen: expected a task with a terminal',
  });
  await task.stop();
});
