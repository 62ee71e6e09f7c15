import { expect, test } from 'vitest';
import { TaskManager } from '../../src/index.js';
import { quote } from '../support/commands.js';
import { leavesNothingBehind, useOwners } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

leavesNothingBehind();
const newOwner = useOwners();

/** Starts tasks that end with the test. */
function newTasks() {
  const manager = new TaskManager();
  const owner = newOwner();
  const start: TaskManager['start'] = (command, own) =>
    manager.start(command, { owner, graceMs: 500, ...own });
  return { start };
}

/** Runs a text by this Node, which is surely there. */
const node = (text: string): string => `${quote(process.execPath)} -e ${quote(text)}`;

const READS_LINES =
  "require('readline').createInterface({ input: process.stdin }).on('line', () => {})";
const PROMPTS =
  "require('readline').createInterface(process.stdin, process.stdout).question('? ', () => {})";
const CONNECTED = `const net = require('net');
  const server = net.createServer(() => {}).listen(0, '127.0.0.1', () => {
    net.connect(server.address().port, '127.0.0.1');
  });`;

const ON_TERMINAL = [
  ['a shell', 'read -r x', 'terminal'],
  ['a program that reads', 'cat', 'terminal'],
  ['a prompt of Node, which takes keys', node(PROMPTS), 'terminal'],
  ['the same while it talks to others', node(`${CONNECTED} ${PROMPTS}`), 'terminal'],
  ['lines that Node reads', node(READS_LINES), 'terminal'],
  ['a password', 'read -rs x', 'password'],
  ['a password, by another program', 'stty -echo; cat; stty echo', 'password'],
  [
    'lines that Node may read, while it talks to others',
    node(`${CONNECTED} ${READS_LINES}`),
    undefined,
  ],
  ['a timer', node('setTimeout(() => {}, 60000)'), undefined],
  ['a program that only waits, without echo', 'stty -echo; sleep 60', undefined],
] as const;

test.each(ON_TERMINAL)('T19: on a terminal, %s: %s waits for %s', async (_, command, waitsFor) => {
  const task = await newTasks().start(command, { pty: true });
  if (waitsFor === undefined) {
    await task.wait({ silentMs: 700 });
    expect(await task.waitsFor()).toBeUndefined();
  } else {
    await eventually(async () => expect(await task.waitsFor()).toBe(waitsFor));
  }
});

test.each([
  ['a shell', 'read -r x', 'stdin'],
  ['lines that Node reads', node(READS_LINES), 'stdin'],
  ['a server', node(CONNECTED), undefined],
  ['a filter of something else', 'sleep 60 | cat', undefined],
])('T19: with a pipe as stdin, %s: %s waits for %s', async (_, command, waitsFor) => {
  const task = await newTasks().start(command, { stdin: 'pipe' });
  if (waitsFor === undefined) {
    await task.wait({ silentMs: 700 });
    expect(await task.waitsFor()).toBeUndefined();
  } else {
    await eventually(async () => expect(await task.waitsFor()).toBe(waitsFor));
  }
});

const PYTHON = 'python3 -ic "import sys"';
const POLLS = `python3 -c ${quote('import select; p = select.poll(); p.register(0, 1); p.poll()')}`;
const SELECTS = `python3 -c ${quote('import select; select.select([0], [], [])')}`;
const EPOLLS = `python3 -c ${quote('import select; p = select.epoll(); p.register(0, 1); p.poll()')}`;

test.each([PYTHON, POLLS, SELECTS, EPOLLS])(
  'T19: %s waits for its terminal, or its stdin',
  where(installed('python3')),
  async (command) => {
    const { start } = newTasks();
    const [terminal, pipe] = [
      await start(command, { pty: true }),
      await start(command, { stdin: 'pipe' }),
    ];
    await eventually(async () => expect(await terminal.waitsFor()).toBe('terminal'));
    await eventually(async () => expect(await pipe.waitsFor()).toBe('stdin'));
  },
);

test('T19: gdb waits for its terminal, or its stdin', where(installed('gdb')), async () => {
  const { start } = newTasks();
  const [terminal, pipe] = [
    await start('gdb -q -nx', { pty: true }),
    await start('gdb -q -nx', { stdin: 'pipe' }),
  ];
  await eventually(async () => expect(await terminal.waitsFor()).toBe('terminal'));
  await eventually(async () => expect(await pipe.waitsFor()).toBe('stdin'));
});

test('a thread that reads is seen too', where(installed('python3')), async () => {
  const text = `import sys, threading, time
threading.Thread(target=lambda: sys.stdin.readline(), daemon=True).start()
time.sleep(60)`;
  const task = await newTasks().start(`python3 -c ${quote(text)}`, { pty: true });
  await eventually(async () => expect(await task.waitsFor()).toBe('terminal'));
});
