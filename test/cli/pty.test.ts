import { expect, test } from 'vitest';
import { type LiveProcess, spawn } from '../../src/index.js';
import { readableText } from '../../src/terminal/readable.js';
import { cli, program } from '../support/cli.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { childrenOf, eventually } from '../support/processes.js';
import { textUntil } from '../support/streams.js';

leavesNothingBehind();

const SIZE = { columns: 70, rows: 20 };

/** The command line, on a terminal whose settings are looked at before and after. */
function onTerminal(command: string, ...flags: readonly string[]): Promise<LiveProcess> {
  const words = [process.execPath, program, 'run', '--pty', ...flags, command].map(quote);
  return spawn(
    `echo before; a=$(stty -g); ${words.join(' ')}; rc=$?
    test "$a" = "$(stty -g)" && echo "restored, $rc"`,
    { pty: SIZE },
  );
}

/** What the user's terminal shows in the end. */
async function shownBy(live: LiveProcess): Promise<string> {
  const result = await live.result;
  if (!('output' in result) || result.output.kind !== 'complete') throw new Error('too long');
  return readableText(result.output.text, SIZE);
}

test('run --pty takes all of the terminal, gives it back as it was, and leaves the output there', async () => {
  const live = await onTerminal('tty -s && stty size; printf "10%%\\r100%%\\n"; read x; exit 3');
  const screen = await textUntil(live, '100%');
  expect(screen).toContain('\x1b[?1049h');
  expect(screen).toContain(' Console │ Ctrl-] twice ends it │ tty -s && stty size');
  await live.write('key\r');
  expect(await shownBy(live)).toBe('before\n19 70\n100%\nkey\nrestored, 3\n');
});

test('E9: Ctrl-] twice ends the command', async () => {
  const nap = longSleep(441);
  const live = await onTerminal(`echo up; ${nap}`);
  await eventually(() => expect(sleeping(441)).toHaveLength(1));
  await live.write('\x1d\x1d');
  expect(await shownBy(live)).toBe('before\nforkline: ended by Ctrl-]\nup\nrestored, 143\n');
  expect(sleeping(441)).toEqual([]);
});

test('E9: Esc and a single Ctrl-] are the keys of the command', async () => {
  const live = await onTerminal('stty raw -echo; echo up; head -c 5 | od -An -tx1; stty sane');
  await textUntil(live, 'up');
  for (const key of ['\x1b', '\x1d', '\x1e', 'x\x1d', 'y']) {
    await live.write(key);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await shownBy(live)).toContain('1b 1d 1e 78 1d');
});

test('the command gets the new size when the window gets one', async () => {
  const command = 'trap "stty size; exit" WINCH; echo up; while :; do sleep 0.05; done';
  const live = await onTerminal(command);
  await textUntil(live, 'up');
  live.resize(90, 30);
  expect(await shownBy(live)).toBe('before\nup\n29 90\nrestored, 0\n');
});

test('a timeout and a signal give the terminal back, too', async () => {
  const late = await onTerminal(longSleep(442), '--timeout', '0.5');
  expect(await shownBy(late)).toMatch(/^before\nforkline: timed out .*\nrestored, 124\n$/);
  const killed = await onTerminal(longSleep(443));
  await eventually(() => expect(sleeping(443)).toHaveLength(1));
  for (const pid of childrenOf(killed.pid)) process.kill(pid, 'SIGTERM');
  expect(await shownBy(killed)).toMatch(/^before\nrestored, 143\n$/);
});

test('the result can be printed as JSON', async () => {
  const live = await onTerminal('echo hi', '--json');
  const shown = await shownBy(live);
  expect(shown).toContain('"outcome":{"kind":"exited","exitCode":0}');
  expect(shown).toContain('"text":"hi\\r\\n"');
});

test('FORKLINE_NO_PTY=1 keeps a command on pipes', async () => {
  const words = [process.execPath, program, 'run', '--pty', 'test -t 1 || echo piped'];
  const live = await spawn(`FORKLINE_NO_PTY=1 ${words.map(quote).join(' ')}`, { pty: SIZE });
  expect(await shownBy(live)).toBe(
    'forkline: --pty: FORKLINE_NO_PTY=1 is set; the command runs without a terminal\npiped\n',
  );
});

test('without a terminal, the command runs on pipes, and a note says so', async () => {
  const { code, stdout, stderr } = await cli('run', '--pty', 'test -t 1 || echo piped');
  expect(code).toBe(0);
  expect(stdout.toString()).toBe('piped\n');
  expect(stderr).toBe(
    'forkline: --pty: standard input is not a terminal; the command runs without one\n',
  );
});
