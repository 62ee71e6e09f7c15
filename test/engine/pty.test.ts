import { execFileSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { type MergedResult, run, type SpawnOptions, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';
import { textUntil } from '../support/streams.js';

leavesNothingBehind();

const onTerminal = async (command: string, options: SpawnOptions = {}) =>
  printed((await run(command, { pty: true, ...options })) as MergedResult);

test('stdin, stdout and stderr are one terminal, 120 by 40, that is the controlling one', async () => {
  const command = 'test -t 0 && test -t 1 && test -t 2 && stty size && (stty size </dev/tty)';
  expect(await onTerminal(command)).toBe('40 120\r\n40 120\r\n');
});

test.each([
  [{ columns: 20, rows: 200 }, '200 20'],
  [{ columns: 400 }, '40 400'],
  [{ rows: 5 }, '5 120'],
  [{}, '40 120'],
])('a terminal of %j is %s', async (pty, size) => {
  expect(await onTerminal('stty size', { pty })).toBe(`${size}\r\n`);
});

test.each([
  [{ pty: { columns: 19 } }, 'pty.columns: expected a whole number from 20 to 400, got 19'],
  [{ pty: { rows: 201 } }, 'pty.rows: expected a whole number from 5 to 200, got 201'],
  [{ pty: { rows: 10.5 } }, 'pty.rows: expected a whole number from 5 to 200, got 10.5'],
  [{ pty: 'yes' }, 'pty: expected a boolean or a size, got "yes"'],
  [{ pty: true, input: 'x' }, 'input: expected nothing beside pty: use spawn(), and write()'],
  [{ pty: true, streams: 'separate' }, "streams: expected 'merged' beside pty"],
  [{ pty: true, stdin: 'null' }, 'stdin: expected nothing beside pty, whose input is the terminal'],
])('%j is an input error', async (options, message) => {
  const error = await failureOf(spawn('true', options as { pty: true }));
  expect(error).toMatchObject({ name: 'InputError', message: expect.stringContaining(message) });
});

test('resize() changes the size and tells the command', async () => {
  const live = await spawn('trap "stty size; exit" WINCH; echo up; while :; do sleep 0.05; done', {
    pty: true,
  });
  await textUntil(live, 'up');
  expect(() => live.resize(401, 40)).toThrow('columns: expected a whole number from 20 to 400');
  expect(() => live.resize(100, 4)).toThrow('rows: expected a whole number from 5 to 200, got 4');
  live.resize(100, 50);
  expect(await textUntil(live, '\n')).toBe('50 100\r\n');
  await live.result;
  live.resize(100, 51);
});

test('without a terminal resize() is an input error, and so is end() with one', async () => {
  const piped = await spawn('true');
  expect(() => piped.resize(80, 24)).toThrow('resize: expected a command with pty');
  const live = await spawn('cat', { pty: true });
  expect(() => live.end()).toThrow(
    "end: expected a command without pty; on a terminal write('\\x04') ends the input",
  );
  await live.write('\x04');
  await Promise.all([piped.result, live.result]);
});

test('input is echoed, unless the program asks for a password', async () => {
  const live = await spawn('read a; read -s -p "Password: " b; echo; echo "[$a|$b]"', {
    pty: true,
  });
  await live.write('name\n');
  expect(await textUntil(live, 'Password: ')).toBe('name\r\nPassword: ');
  await live.write('s3cret\r');
  expect(await textUntil(live, ']')).toBe('\r\n[name|s3cret]\r\n');
  await live.result;
});

/** How `ps` shows it: `S+` sleeps in the foreground, `T` is stopped. */
const stateOf = (pid: number | undefined): string =>
  execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim();

test('Ctrl-C interrupts, and Ctrl-Z and fg work in an interactive shell', async () => {
  const nap = longSleep(411);
  const live = await spawn('HISTFILE= exec bash --norc --noprofile -i', { pty: true });
  await live.write(`${nap}\r`);
  await eventually(() => expect(sleeping(411)).toHaveLength(1));
  const [pid] = sleeping(411);
  await eventually(() => expect(stateOf(pid)).toBe('S+'));
  await live.write('\x1a');
  await eventually(() => expect(stateOf(pid)).toBe('T'));
  await textUntil(live, 'Stopped');
  await live.write('fg\r');
  await eventually(() => expect(stateOf(pid)).toBe('S+'));
  await live.write('\x03');
  await eventually(() => expect(sleeping(411)).toEqual([]));
  await live.write('echo rc=$?\r');
  await textUntil(live, 'rc=130');
  await live.write('exit 3\r');
  expect((await live.result).outcome).toEqual({ kind: 'exited', exitCode: 3 });
});

test('kill() ends an interactive shell, which ignores SIGTERM, with its jobs', async () => {
  const nap = longSleep(412);
  const live = await spawn(`HISTFILE= exec bash --norc --noprofile -i`, { pty: true });
  await live.write(`${nap} & echo u''p\r`);
  await textUntil(live, 'up');
  const { outcome } = await live.kill({ graceMs: 300 });
  expect(outcome).toMatchObject({ kind: 'cancelled', forced: true });
  expect(sleeping(412)).toEqual([]);
});

test("TERM is that of the command's terminal, not the host's, unless the caller sets it", async () => {
  vi.stubEnv('TERM', 'dumb');
  vi.stubEnv('COLUMNS', '7');
  vi.stubEnv('LINES', '7');
  try {
    const command = 'echo "$TERM|$(env | grep -c -E "^(COLUMNS|LINES)=")"';
    expect(await onTerminal(command)).toBe('xterm-256color|0\r\n');
    expect(await onTerminal(command, { env: { TERM: 'vt100' } })).toBe('vt100|0\r\n');
    expect(await onTerminal(command, { env: { COLUMNS: '99' } })).toBe('xterm-256color|1\r\n');
  } finally {
    vi.unstubAllEnvs();
  }
});

test('the capture has the same bounds and exact counts as that of a pipe', async () => {
  const options = { pty: true, headBytes: 10, tailBytes: 10 } as const;
  const { output } = (await run('seq 1 10000', options)) as MergedResult;
  expect(output).toMatchObject({
    kind: 'cut',
    head: '1\r\n2\r\n3\r\n4',
    tail: '99\r\n10000\r\n'.slice(1),
    total: { bytes: 58_894, lines: 10_000 },
  });
});

test('a flood of unread output ends at its deadline, in bounded memory', async () => {
  const { outcome, output } = (await run('yes', { pty: true, timeoutMs: 500 })) as MergedResult;
  expect(outcome).toMatchObject({ kind: 'timedOut' });
  expect(output.kind).toBe('cut');
});
