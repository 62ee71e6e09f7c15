import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  attach,
  type DetachedTask,
  type DetachOptions,
  detach,
  listTasks,
  run,
} from '../../../src/index.js';
import { longSleep } from '../../support/commands.js';
import { untilState, useTasks } from '../../support/detached-tasks.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { installed, where } from '../../support/needs.js';
import { eventually, isGone, openDescriptors, parentOf } from '../../support/processes.js';

leavesNothingBehind(1);
const tasks = useTasks();

const SIZE = { columns: 80, rows: 24 };

async function onTerminal(command: string, options: DetachOptions = {}): Promise<DetachedTask> {
  const task = await detach(command, { pty: SIZE, ...options });
  tasks.note(task.id);
  return task;
}

/** Waits until the screen shows this. */
async function untilShown(task: DetachedTask, text: string | RegExp): Promise<string> {
  return eventually(async () => {
    const screen = await task.screen();
    expect(screen).toMatch(text);
    return screen;
  }, 20_000);
}

const REPL = "PS1='$ ' exec bash --norc --noprofile -i";

test('a detached terminal is of its size, typed into, resized and looked at', async () => {
  const task = await onTerminal(REPL);
  expect(task.record).toMatchObject({ terminal: SIZE, hasInput: true });
  expect(await listTasks()).toMatchObject([{ id: task.id, hasTerminal: true, state: 'running' }]);
  await untilShown(task, /^\$ $/m);
  await task.write('stty size; echo $TERM; tty | tr -d 0-9\r');
  await untilShown(task, '24 80\nxterm-256color\n/dev/pts/\n');
  await task.resize(100, 30);
  await task.write('stty size; echo $COLUMNS\r');
  await untilShown(task, '30 100\n100\n');
  await task.write('exit 5\r');
  await task.wait({ ended: true });
  expect(task.receipt?.outcome).toEqual({ kind: 'exited', exitCode: 5 });
  expect(await task.screen()).toMatch(/exit 5\nexit\n$/);
  await task.resize(80, 24);
  await expect(task.write('x')).rejects.toMatchObject({ code: 'EPIPE' });
});

test('job control, Ctrl-C, Ctrl-Z and Ctrl-D are those of a terminal', async () => {
  const task = await onTerminal(REPL);
  await untilShown(task, /^\$ $/m);
  await task.write(`${longSleep(380)}\r`);
  await eventually(async () => expect((await task.members())?.length).toBe(2));
  await task.write('\x1a');
  await untilShown(task, /\[1\]\+ +Stopped/);
  await task.write('fg\r');
  await untilShown(task, /fg\n/);
  await task.write('\x03');
  await task.write('echo "then $?"\r');
  await untilShown(task, 'then 130');
  task.closeInput();
  await task.wait({ ended: true });
  expect(task.receipt?.outcome).toEqual({ kind: 'exited', exitCode: 0 });
});

test('a command that leaves a process leaves the task, and all that it printed is there', async () => {
  const task = await onTerminal(
    `seq 1 5000; (trap '' HUP; exec ${longSleep(381)}) & sleep 0.3; exit 4`,
  );
  await untilState(task.subject, 'left');
  const { text } = await task.read({ maxBytes: 1 << 20 });
  expect(text.startsWith('1\r\n2\r\n')).toBe(true);
  expect(text.endsWith('\r\n5000\r\n')).toBe(true);
  expect((await task.members())?.length).toBe(1);
  await task.stop();
  expect(task.state).toBe('ended');
});

test('stop() hangs up, which ends a shell that takes no notice of SIGTERM', async () => {
  const task = await onTerminal(REPL);
  await untilShown(task, /^\$ $/m);
  await task.write(`${longSleep(383)} &\r`);
  await eventually(async () => expect((await task.members())?.length).toBe(2));
  await task.stop({ graceMs: 60_000 });
  expect(task.receipt?.outcome).toMatchObject({ kind: 'cancelled', forced: false });
  expect(task.state).toBe('ended');
});

test('a password is asked for without an echo, which is told', async () => {
  const task = await onTerminal(
    'read -rsp "Password: " x; echo; echo "got $(printf %s "$x" | wc -c)"; read -r y',
  );
  await untilShown(task, 'Password: ');
  expect(await task.waitsFor()).toBe('password');
  expect(await task.subject.typing()).toBe('hidden');
  await task.write('secret\r');
  const screen = await untilShown(task, 'got 6');
  expect(screen).toBe('Password: \ngot 6\n');
  expect(await task.subject.typing()).toBe('lines');
});

test('a host ends, and the next one types on', async () => {
  const starter = `
    import { detach } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)};
    const task = await detach('read -r a; echo "got $a"; read -r b; echo "and $b"', { pty: true });
    await task.write('one\\r');
    await task.wait({ line: 'got one' });
    process.stdout.write(task.id);
    process.kill(process.pid, 'SIGKILL');`;
  const started = await run([process.execPath, '--input-type=module', '-e', starter]);
  const id = tasks.note(
    'output' in started && started.output.kind === 'complete' ? started.output.text : '',
  );
  const task = await attach(id);
  expect(await task.screen()).toBe('one\ngot one\n');
  await task.write('two\r');
  await task.wait({ ended: true });
  expect(await task.screen()).toBe('one\ngot one\ntwo\nand two\n');
});

test('a keeper that is killed loses the task, and its command gets a hang-up', async () => {
  const task = await onTerminal(`echo on; exec ${longSleep(382)}`);
  await untilShown(task, 'on\n');
  const { pid } = task.record;
  process.kill(parentOf(pid), 'SIGKILL');
  await untilState(task.subject, 'lost');
  await eventually(() => expect(isGone(pid)).toBe(true));
  expect(await task.screen()).toBe('on\n');
});

test('a full-screen program is on the screen, and gone from it at its end', async () => {
  const task = await onTerminal(
    'echo before; printf "\\033[?1049h\\033[2J\\033[5;3Hfull"; read -r x; printf "\\033[?1049l"; echo after; read -r x',
  );
  expect(await untilShown(task, 'full')).toBe('\n\n\n\n  full\n');
  await task.write('\r');
  expect(await untilShown(task, 'after')).toBe('before\nafter\n');
});

test('the screen is drawn from the last output, and modes that were set before', async () => {
  const task = await onTerminal(
    'printf "\\033[?1049h"; for i in $(seq 9000); do echo "line $i ...................................."; done; read -r x',
  );
  const screen = await untilShown(task, 'line 9000');
  expect(screen.split('\n').length).toBe(24);
});

test('options that exclude a terminal, and tasks without one, are refused by name', async () => {
  const wrong = { pty: true, stdin: 'null' } as const;
  await expect(detach('true', wrong)).rejects.toThrow(/stdin: expected nothing beside pty/);
  await expect(detach('true', { pty: { columns: 3 } })).rejects.toThrow(/pty.columns: expected/);
  const plain = await detach('true');
  tasks.note(plain.id);
  await expect(plain.screen()).rejects.toThrow(/screen: expected a task with a terminal/);
  await expect(plain.resize(80, 24)).rejects.toThrow(/resize: expected a task with a terminal/);
  const task = await onTerminal('read -r x');
  await expect(task.resize(1, 24)).rejects.toThrow(/columns: expected/);
});

test('a sandboxed command finds the name of its terminal', async () => {
  const cwd = tasks.folder.path;
  const task = await onTerminal(
    'tty; stty size; (: </dev/tty) && echo own; touch no 2>&1; read -r x',
    {
      sandbox: 'read-only',
      cwd,
    },
  );
  await untilShown(task, /^\/dev\/pts\/\d+\n24 80\nown\ntouch: /);
  await task.write('\r');
  await task.wait({ ended: true });
  expect(task.state).toBe('ended');
});

describe('programs', () => {
  test('vim', where(installed('vim')), async () => {
    const task = await onTerminal('vim -u NONE -i NONE -N story', { cwd: tasks.folder.path });
    await untilShown(task, /^~ *$/m);
    await task.write('iOnce upon a time\x1b');
    await untilShown(task, /^Once upon a time *\n~/);
    await task.resize(60, 10);
    await eventually(async () => expect((await task.screen()).split('\n').length).toBeLessThan(12));
    await task.write(':wq\r');
    await task.wait({ ended: true });
    const told = await run('cat story', { cwd: tasks.folder.path });
    expect(told).toMatchObject({ output: { text: 'Once upon a time\n' } });
  });

  test('the REPL of Python', where(installed('python3')), async () => {
    const task = await onTerminal('python3 -I -q');
    await untilShown(task, '>>> ');
    await task.write('6 * 7\r');
    await untilShown(task, /^42$/m);
    await task.write('\x04');
    await task.wait({ ended: true });
  });
});

test('a hundred terminals are started and stopped, and no descriptor is left', {
  tags: ['slow'],
}, async () => {
  const before = openDescriptors().length;
  for (let round = 0; round < 10; round += 1) {
    const all = await Promise.all(Array.from({ length: 10 }, () => onTerminal('echo on; cat')));
    await Promise.all(all.map((task) => untilShown(task, 'on\n')));
    await Promise.all(all.map((task) => task.stop({ graceMs: 0 })));
    expect(all.every((task) => task.state === 'ended')).toBe(true);
  }
  await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before));
});

test('output of 100 MB is bounded on the disk, and its end is on the screen', {
  tags: ['slow'],
}, async () => {
  const task = await onTerminal('head -c 100000000 /dev/zero | tr "\\0" x; echo; echo the end', {
    maxOutputBytes: 1_000_000,
  });
  await task.wait({ ended: true, atMostMs: 60_000 });
  const { total } = await task.read({ since: 1e9 });
  expect(total).toBe(100_000_000 + '\r\nthe end\r\n'.length);
  expect((await task.read({ since: total - 9 })).text).toBe('the end\r\n');
  const place = dirname(task.record.outputFile);
  const pieces = readdirSync(place).filter((name) => name.startsWith('output'));
  const sizes = pieces.map((name) => statSync(join(place, name)).size);
  // The output's own file also says in a line that it goes on elsewhere.
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_001_000);
});
