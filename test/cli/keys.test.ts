import { expect, test } from 'vitest';
import { type LiveProcess, spawn } from '../../src/index.js';
import { program } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

leavesNothingBehind();

/** A person's shell on a terminal, with what it shows so far. */
async function atTerminal() {
  const live = await spawn("PS1='$ ' HISTFILE= bash --norc --noediting -i", {
    pty: { columns: 190, rows: 30 },
  });
  let shown = '';
  const reading = (async () => {
    for await (const { text } of live) shown += text.replaceAll('\r', '');
  })();
  return {
    run: (command: string, ...flags: readonly string[]) =>
      type(
        live,
        `${['node', program, 'run', ...flags, command].map(quote).join(' ')}; echo "rc" $?\r`,
      ),
    press: (keys: string) => live.write(keys),
    shown: () => shown,
    shows: (text: string | RegExp) => eventually(() => expect(shown).toMatch(text), 20_000),
    async [Symbol.asyncDispose]() {
      await live.kill({ graceMs: 0 });
      await reading;
    },
  };
}

const type = (live: LiveProcess, text: string): Promise<void> => live.write(text);

test('E4: Ctrl-C reaches the handlers of the command, whose exit code counts', async () => {
  await using terminal = await atTerminal();
  await terminal.run('trap "echo handled; exit 3" INT; echo up; sleep 30');
  await terminal.shows(/up\n/);
  await terminal.press('\x03');
  await terminal.shows(/handled\nrc 3\n/);
});

test('E4: Ctrl-C ends a command without a handler, with 130 and no note', async () => {
  await using terminal = await atTerminal();
  await terminal.run('echo up; sleep 30; echo not reached');
  await terminal.shows(/up\n/);
  await terminal.press('\x03');
  await terminal.shows(/\^C\n?rc 130\n/);
});

test('E4: a note says what follows, and another Ctrl-C goes one step further', async () => {
  await using terminal = await atTerminal();
  await terminal.run('trap "" INT TERM; echo up; while :; do sleep 0.1; done');
  await terminal.shows(/up\n/);
  await terminal.press('\x03');
  await terminal.shows(/SIGINT sent; SIGTERM follows in 5 s, or with the next Ctrl-C\n/);
  await terminal.press('\x03');
  await terminal.shows(/SIGTERM sent; SIGKILL follows in 5 s, or with the next Ctrl-C\n/);
  await terminal.press('\x03');
  await terminal.shows(/SIGKILL was needed\nrc 130\n/);
});

test('E4: without another Ctrl-C the steps follow by themselves', { timeout: 30_000 }, async () => {
  await using terminal = await atTerminal();
  await terminal.run(
    'trap "" INT; trap "echo terminated; exit 4" TERM; echo up; while :; do sleep 0.1; done',
  );
  await terminal.shows(/up\n/);
  await terminal.press('\x03');
  await terminal.shows(/SIGTERM follows in 5 s.*\nTerminated\nterminated\nrc 130\n/);
});

test('E5: Ctrl-Z stops the command as well, and fg lets it go on', async () => {
  await using terminal = await atTerminal();
  await terminal.run('n=0; while sleep 0.1; do n=$((n+1)); echo "tick $n"; done');
  await terminal.shows(/tick 3\n/);
  await terminal.press('\x1a');
  await terminal.shows(/Stopped/);
  const ticks = () => terminal.shown().match(/tick/g)?.length ?? 0;
  const atStop = ticks();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(ticks()).toBe(atStop);
  await terminal.press('fg\r');
  await eventually(() => expect(ticks()).toBeGreaterThan(atStop + 3));
  await terminal.press('\x03');
  await terminal.press('echo "rc" $?\r');
  await terminal.shows(/rc 130\n/);
});

test('E11: how long a silent command runs is shown until it prints', {
  timeout: 30_000,
}, async () => {
  await using terminal = await atTerminal();
  await terminal.run('sleep 11.5; echo out; sleep 0.5');
  await terminal.shows(/forkline: still running, 10 s/);
  await terminal.shows(/out\n/);
  const [line, end] = terminal.shown().split('still running').slice(-1).join().split('out\n');
  expect(line).toMatch(/K$/);
  expect(end).not.toContain('running');
  await terminal.shows(/rc 0\n/);
});
