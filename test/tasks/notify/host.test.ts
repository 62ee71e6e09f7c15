import { expect, test } from 'vitest';
import {
  type Notify,
  type TaskEvent,
  TaskManager,
  type TaskManagerOptions,
  type ToldNews,
} from '../../../src/index.js';
import { longSleep } from '../../support/commands.js';
import { leavesNothingBehind, useOwners } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';

leavesNothingBehind();
const newOwner = useOwners();

const SERVER = `exec '${process.execPath}' -e "require('net').createServer().listen(0, '127.0.0.1')"`;

/** A manager that keeps what it is told, with tasks that end with the test. */
function newTasks(options: TaskManagerOptions = {}) {
  const events: TaskEvent[] = [];
  const manager = new TaskManager({
    watch: {},
    onEvent: (event) => events.push(event),
    ...options,
  });
  const owner = newOwner();
  const start = (command: string, notify: Notify) =>
    manager.start(command, { owner, graceMs: 0, notify });
  const news = () => events.flatMap((event) => event.news);
  const marked = () => news().filter(isMarked);
  return { manager, start, news, marked };
}

const isMarked = ({ watch, unmet }: ToldNews) => watch !== undefined || unmet !== undefined;

test('the first line that matches is told once, with its watch', async () => {
  const { start, marked } = newTasks();
  const task = await start('echo one; echo ready 1; sleep .4; echo ready 2; sleep .4', {
    line: 'ready',
  });
  await task.wait({ gone: true });
  await eventually(() => expect(marked()).toHaveLength(1));
  expect(marked()).toEqual([
    { kind: 'line', pattern: 'ready', line: 'ready 1', from: 4, cursor: 12, watch: 'line' },
  ]);
});

test('a line by an expression, also one that is not complete', async () => {
  const { start, marked } = newTasks();
  const task = await start(`printf 'Password: '; ${longSleep(7301)}`, { line: /word: $/ });
  await eventually(() => expect(marked()).toMatchObject([{ line: 'Password: ', watch: 'line' }]));
  await task.stop();
});

test('a port is told once, any or one of a number', async () => {
  const { start, marked } = newTasks();
  const any = await start(SERVER, { port: true });
  await eventually(() => expect(marked()).toHaveLength(1));
  expect(marked()).toMatchObject([{ kind: 'listening', address: '127.0.0.1', watch: 'port' }]);
  const other = await start(SERVER, { port: 1 });
  await Promise.all([any.stop(), other.stop()]);
  await eventually(() => expect(marked().at(-1)).toMatchObject({ kind: 'ended', unmet: ['port'] }));
});

test('a port that all ports report is one event, not two', async () => {
  const { start, news } = newTasks({ watch: { ports: true } });
  const task = await start(SERVER, { port: true });
  await eventually(() => expect(news()).toHaveLength(1));
  expect(news()).toMatchObject([{ kind: 'listening', watch: 'port' }]);
  await task.stop();
});

test('a line that the lines of all tasks report is one event, not two', async () => {
  const { start, news } = newTasks({ watch: { lines: [/^re/] } });
  const task = await start('echo ready; sleep .3', { line: 'ready' });
  await task.wait({ gone: true });
  await eventually(() => expect(news().at(-1)).toMatchObject({ kind: 'gone' }));
  expect(news().filter(({ kind }) => kind === 'line')).toMatchObject([{ watch: 'line' }]);
});

test('silence is told the first time only', async () => {
  const { start, marked } = newTasks();
  const task = await start('sleep .5; echo x; sleep .5; echo y; sleep .5', { silentMs: 150 });
  await task.wait({ gone: true });
  await eventually(() => expect(marked()).toHaveLength(1));
  expect(marked()).toMatchObject([{ kind: 'silent', watch: 'silent' }]);
});

test('the end is told with its watch, and with those that can not come true any more', async () => {
  const { start, news, marked } = newTasks();
  await start('exit 3', { line: 'never', port: 9, silentMs: 60_000, ended: true });
  await eventually(() => expect(news().map(({ kind }) => kind)).toEqual(['ended', 'gone']));
  expect(marked()).toMatchObject([
    {
      kind: 'ended',
      receipt: { outcome: { kind: 'exited', exitCode: 3 } },
      watch: 'ended',
      unmet: ['line', 'port', 'silent'],
    },
  ]);
});

test('a line just before the end is told before it, and is not unmet', async () => {
  const { start, marked } = newTasks();
  for (let count = 0; count < 10; count += 1) await start('echo done', { line: 'done' });
  await eventually(() => expect(marked()).toHaveLength(10));
  expect(marked()).toEqual(
    Array.from({ length: 10 }, () => expect.objectContaining({ kind: 'line', watch: 'line' })),
  );
});

test('a port may come after the command itself has ended, until the last process is gone', async () => {
  const { start, news, marked } = newTasks();
  const late = await start(`(sleep .4; ${SERVER}) >/dev/null 2>&1 &`, { line: 'no', port: true });
  await eventually(() => expect(marked()).toHaveLength(2));
  expect(marked()).toMatchObject([
    { kind: 'ended', running: expect.any(Number), unmet: ['line'] },
    { kind: 'listening', watch: 'port' },
  ]);
  await late.stop();
  await eventually(() => expect(news().at(-1)).toEqual({ kind: 'gone' }));
  const none = await start(`${longSleep(7302)} & true`, { port: 9 });
  await eventually(() => expect(news().at(-1)).toMatchObject({ kind: 'ended', running: 1 }));
  await none.stop();
  await eventually(() => expect(marked().at(-1)).toEqual({ kind: 'gone', unmet: ['port'] }));
});

test.each<[unknown, RegExp]>([
  [{}, /^notify: expected at least one of line, port, silentMs and ended$/],
  [{ ended: false }, /^notify: expected at least one/],
  [0, /^notify: expected an object, got 0$/],
  [{ line: '' }, /^notify\.line: expected a text that is not empty or a RegExp, got ""$/],
  [{ port: 0 }, /^notify\.port: expected a whole number from 1 to 65535, got 0$/],
  [{ silentMs: 0 }, /^notify\.silentMs: expected a number from 1, got 0$/],
  [{ ended: 1 }, /^notify\.ended: expected true or false, got 1$/],
  [{ silent: 3 }, /^notify\.silent: not known here, did you mean silentMs\?$/],
  [{ ended: true, to: 'me' }, /^notify\.to: not known here, /],
])('notify: %j is refused', async (notify, message) => {
  const { start } = newTasks();
  await expect(start('true', notify as Notify)).rejects.toThrow(message);
});

test('what a manager tells of every task, unless a task has its own', async () => {
  const { manager, start, marked } = newTasks({ notify: { ended: true } });
  await manager.start('exit 1');
  await eventually(() => expect(marked()).toMatchObject([{ watch: 'ended' }]));
  await start('echo x', { line: 'x' });
  await eventually(() => expect(marked()).toHaveLength(2));
  await manager.settled();
  expect(marked()[1]).toMatchObject({ kind: 'line', watch: 'line' });
  expect(() => new TaskManager({ notify: {} })).toThrow(/^notify: expected at least one of/);
});

test('without a listener it is refused, since nobody would be told', async () => {
  const manager = new TaskManager();
  const start = () => manager.start('true', { notify: { ended: true } });
  await expect(start()).rejects.toThrow(/^notify: expected a manager with onEvent or a subscriber/);
  const told: TaskEvent[] = [];
  manager.subscribe((event) => told.push(event));
  await start();
  await eventually(() =>
    expect(told.flatMap(({ news }) => news)[0]).toMatchObject({ watch: 'ended' }),
  );
});
