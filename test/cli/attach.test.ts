import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { attach, run } from '../../src/index.js';
import { User } from '../support/attached-user.js';
import { cli, endOf, startCliOn } from '../support/cli.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { eventually, lives, parentOf } from '../support/processes.js';

leavesNothingBehind();
const tasks = useTasks();

const SIZE = { columns: 80, rows: 24 };
const REPL = "PS1='$ ' exec bash --norc --noprofile -i";

async function detached(command: string, ...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli('run', '--detach', '--pty', ...flags, command);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return tasks.note(stdout.toString().trim());
}

/** Asks until the terminal has this size. Each question is answered before the next one. */
async function untilSize(user: User, size: string): Promise<void> {
  let asked = 0;
  await eventually(async () => {
    asked += 1;
    await user.type(`clear; echo asked ${asked}; stty size\r`);
    await user.sees(new RegExp(`^asked ${asked}\\n\\d+ \\d+\\n`, 'm'));
    expect(user.screen).toContain(`\n${size}\n`);
  });
}

test('a user types on a terminal of the size of the window, and gets the exit code', async () => {
  const id = await detached(REPL);
  const user = await User.attach(id, { columns: 90, rows: 20 });
  await user.sees(/^\$ ?$/m);
  await user.type('stty size\r');
  await user.sees('20 90\n');
  user.resize(100, 30);
  await eventually(async () => expect((await attach(id)).record.state.kind).toBe('running'));
  await user.type('stty size\r');
  await user.sees('30 100\n');
  await user.type('exit 7\r');
  expect(await user.ended()).toMatch(/exit 7\nexit\nrestored, 7\n$/);
});

test('Ctrl-\\ leaves the terminal to itself, and who comes later sees it drawn anew', async () => {
  const id = await detached(REPL);
  const first = await User.attach(id);
  await first.sees(/^\$ ?$/m);
  await first.type('echo one $((1 + 1))\r');
  await first.sees('one 2');
  await first.type('\x1c');
  expect(await first.ended()).toMatch(
    new RegExp(`forkline: the task goes on; forkline attach ${id} shows it again\nrestored, 0\n$`),
  );
  const second = await User.attach(id);
  await second.sees('echo one $((1 + 1))\none 2\n$');
  await second.type('exit\r');
  await second.ended();
});

test("--detach-keys names other keys, and Ctrl-\\ is then the command's", async () => {
  const id = await detached('trap "echo quit" QUIT; echo on; while :; do sleep 0.05; done');
  const user = await User.attach(id, SIZE, '--detach-keys', 'ctrl-p,q');
  await user.sees('on');
  await user.type('\x1c');
  await user.sees('quit');
  await user.type('\x10');
  await user.type('q');
  expect(await user.ended()).toMatch(/restored, 0\n$/);
  const wrong = await User.attach(id, SIZE, '--detach-keys', 'f12');
  expect(await wrong.ended()).toMatch(/forkline: detachKeys: expected keys .*\nrestored, 2\n$/s);
});

test('several are attached at once: the smallest window counts, and one that is stopped delays none', async () => {
  const id = await detached(REPL);
  const [one, other, third] = await Promise.all([
    User.attach(id, { columns: 100, rows: 30 }),
    User.attach(id, { columns: 80, rows: 40 }),
    User.attach(id, { columns: 90, rows: 35 }),
  ]);
  await Promise.all([one, other, third].map((user) => user.sees(/^\$ ?$/m)));
  await untilSize(one, '30 80');
  const stopped = third.pid;
  process.kill(stopped, 'SIGSTOP');
  await other.type('seq 1 300000; echo over\r');
  await Promise.all([one.sees(/300000\nover\n\$ ?\n?$/), other.sees(/300000\nover\n\$ ?\n?$/)]);
  process.kill(stopped, 'SIGCONT');
  await third.sees(/300000\nover\n\$ ?\n?$/);
  await other.type('\x1c');
  await other.ended();
  await untilSize(one, '30 90');
  await third.type('exit 3\r');
  expect(await one.ended()).toMatch(/restored, 3\n$/);
  expect(await third.ended()).toMatch(/restored, 3\n$/);
});

test('Ctrl-C ends a flood, and a long paste arrives whole', async () => {
  const id = await detached(REPL);
  const user = await User.attach(id);
  await user.sees(/^\$ ?$/m);
  await user.type('yes a flood of output\r');
  await user.sees('a flood of output\na flood of output');
  await user.type('\x03');
  await user.type('echo "then $?"\r');
  await user.sees(/^then 130$/m);
  await user.type('stty raw -echo; echo ready; head -c 300000 | md5sum; stty sane\r');
  await user.sees(/^ready/m);
  await user.type('0123456789'.repeat(30_000));
  const told = await run('yes 0123456789 | head -n 30000 | tr -d "\\n" | md5sum');
  const sum = 'output' in told && told.output.kind === 'complete' ? told.output.text.trim() : '';
  expect(sum).toMatch(/^[0-9a-f]{32}/);
  await user.sees(sum);
  await user.type('exit\r');
  await user.ended();
});

test('a program that asks the terminal gets one answer, of the one attached first', async () => {
  const id = await detached('stty raw -echo; echo on; head -c 20 | od -An -c; echo over; cat');
  const first = await User.attach(id);
  await first.sees('on');
  const second = await User.attach(id);
  await second.sees('on');
  await second.type('\x1b[?62;22cb');
  await first.type('\x1b[?1;2cabcdefgh');
  await second.type('yz.......');
  await first.sees('over');
  // The second one's keys are there, and its terminal's answer is not.
  const typed = first.screen.replace(/\s+/g, '');
  expect(typed).toContain('033[?1;2c');
  expect(typed).toContain('b');
  expect(typed).not.toContain('62');
  for (const user of [first, second]) await user.type('\x1c');
  await Promise.all([first.ended(), second.ended()]);
});

test('a full-screen program is drawn anew, and its modes are taken back', async () => {
  const program = `
import os, shutil, signal, sys
def draw(*_):
    size = shutil.get_terminal_size()
    sys.stdout.write("\\033[2J\\033[3;5Hsize %dx%d" % size); sys.stdout.flush()
os.environ.pop("COLUMNS", 0); os.environ.pop("LINES", 0)
sys.stdout.write("\\033[?1049h\\033[?25l\\033[?2004h\\033[?1000h")
signal.signal(signal.SIGWINCH, draw)
draw()
while True: signal.pause()`;
  const id = await detached(`exec python3 -c ${quote(program)}`);
  const user = await User.attach(id, { columns: 70, rows: 15 });
  await user.sees(/^ {4}size 70x15$/m);
  await user.type('\x1c');
  expect(await user.ended()).toMatch(/the task goes on; .*\nrestored, 0\n$/);
  for (const mode of ['?25h', '?2004l', '?1000l', '?1049l']) expect(user.raw).toContain(mode);
  const later = await User.attach(id, { columns: 70, rows: 15 });
  await later.sees(/^ {4}size 70x15$/m);
  expect(later.raw).toContain('\x1b[?2004h');
  await later.type('\x03');
  expect(await later.ended()).toMatch(/restored, \d+\n$/);
});

test(
  'vim is left, found again by a smaller window, and ended',
  where(installed('vim')),
  async () => {
    const id = await detached('cd /; exec vim -u NONE -i NONE -N');
    const user = await User.attach(id);
    await user.sees(/^~ *$/m);
    await user.type('iOnce upon a time\x1b');
    await user.sees(/^Once upon a time *$/m);
    await user.type('\x1c');
    await user.ended();
    const later = await User.attach(id, { columns: 50, rows: 12 });
    await later.sees(/^Once upon a time *\n(~ *\n){10}/);
    await later.type('yy3p:q!\r');
    expect(await later.ended()).toMatch(/restored, 0\n$/);
  },
);

test('a line feed that comes alone moves straight down', async () => {
  const id = await detached(
    'stty -onlcr; read -r x; printf "\\rab\\ncd\\r\\nef\\n\\ngh"; read -r x',
  );
  const user = await User.attach(id);
  await user.type('x\r');
  await user.sees(/^ab\n {2}cd\nef\n\n {2}gh/m);
  await user.type('\r');
  await user.ended();
});

test('a keeper that is killed loses the task, and the terminal is given back', async () => {
  const id = await detached(`echo on; exec ${longSleep(390)}`);
  const user = await User.attach(id);
  await user.sees('on');
  process.kill(parentOf((await attach(id)).record.pid), 'SIGKILL');
  expect(await user.ended()).toMatch(
    /forkline: its keeper, process \d+, was killed; .*restored, 125\n$/s,
  );
  await eventually(() => expect(sleeping(390)).toEqual([]));
});

test('signals give the terminal back, and leave the task', async () => {
  const id = await detached(`echo on; exec ${longSleep(391)}`);
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    const user = await User.attach(id);
    await user.sees('on');
    process.kill(user.pid, signal);
    expect(await user.ended()).toContain(`restored, ${code}\n`);
  }
  expect((await attach(id)).state).toBe('running');
  expect(sleeping(391)).toHaveLength(1);
});

test('one that is stopped and goes on draws the screen anew', async () => {
  const id = await detached(REPL);
  const user = await User.attach(id);
  await user.sees(/^\$ ?$/m);
  const { pid } = user;
  const drawn = user.raw.length;
  process.kill(pid, 'SIGTSTP');
  await eventually(() => expect(user.raw.slice(drawn)).toContain('\x1b[r'));
  process.kill(pid, 'SIGCONT');
  await eventually(() => expect(user.raw.slice(drawn)).toContain('\x1b[2J'));
  await user.type('echo again\r');
  await user.sees(/^again$/m);
  expect(lives(pid)).toBe(true);
  await user.type('exit\r');
  await user.ended();
});

test('without a terminal the output is streamed, and standard input is typed', async () => {
  const id = await detached('read -r x; echo "<$x>"; exit 6');
  const child = startCliOn(['pipe', 'pipe', 'pipe'], 'attach', id);
  const end = endOf(child);
  child.stdin?.end('typed\n');
  const { code, stdout } = await end;
  expect({ code, stdout: stdout.toString() }).toEqual({
    code: 6,
    stdout: 'typed\r\n<typed>\r\n',
  });
});

test('one too many is told so', async () => {
  const id = await detached('echo on; read -r x');
  const { outputFile } = (await attach(id)).record;
  const crowd = Array.from({ length: 70 }, () =>
    connect(join(dirname(outputFile), 'output.socket')).on('error', () => {}),
  );
  await eventually(() => expect(crowd.some(({ closed }) => closed)).toBe(true));
  const user = await User.attach(id);
  expect(await user.ended()).toMatch(/forkline: its keeper takes no further .*\nrestored, 1\n$/s);
  for (const visitor of crowd) visitor.destroy();
});

test('an ended task shows its last screen', async () => {
  const id = await detached('printf "10%%\\r100%%\\n"; exit 4');
  await eventually(async () => expect((await attach(id)).state).toBe('ended'));
  const user = await User.attach(id);
  expect(await user.ended()).toBe('before\n100%\nrestored, 4\n');
});
