import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createBashTool, run, spawn } from '../../src/index.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { printedBy, untilState, useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf, whole } from '../support/results.js';
import { textOf } from '../support/tool.js';

// W11: a pipeline ends from the left, so that its last program prints what it holds.
// One of them makes a sandbox.
leavesNothingBehind(1);
const folder = useFolder();
const tasks = useTasks();

/** Time for the programs of a pipeline to start, and for one that ignores SIGTERM to be ended. */
const LIMITS = { timeoutMs: 1500, graceMs: 4000 };
const hang = longSleep(601);

type Options = Parameters<typeof run>[1] & { streams?: 'merged' };

/** What a hanging command printed, and how it ended. */
async function ended(command: string, options: Options = {}) {
  const result = await run(command, { ...LIMITS, ...options });
  const { outcome } = result;
  const forced =
    outcome.kind === 'timedOut' || outcome.kind === 'cancelled' ? outcome.forced : undefined;
  return { text: whole(result.output), kind: outcome.kind, forced, result };
}

/** Prints some lines, and hangs. */
const makes = (...lines: string[]): string => `(printf '%s\\n' ${lines.join(' ')}; ${hang})`;

const stubborn = `bash -c ${quote(`trap "" TERM; echo kept; while :; do sleep 0.2; done`)}`;

test.each([
  ['tail', `${makes('a', 'b', 'c')} 2>&1 | tail -2`, 'b\nc\n'],
  ['grep', `${makes('apple', 'pear')} | grep p.a`, 'pear\n'],
  ['sort', `${makes('b', 'a')} | sort`, 'a\nb\n'],
  ['the end of awk', `${makes('b', 'a')} | awk '{n++} END {print n}'`, '2\n'],
  ['three stages', `${makes('a', 'b', 'c')} | grep -v b | tail -1`, 'c\n'],
  ['both streams', `${makes('a')} |& tail -1`, 'a\n'],
  ['a reader in a group', `${makes('a')} | { cat; echo after; }`, 'a\n'],
  ['what goes to another process', `exec > >(tail -1); echo a; echo b; ${hang}`, 'b\n'],
  [
    'a reader in Python',
    `${makes('a')} | python3 -c 'import sys; print(len(sys.stdin.read()))'`,
    '2\n',
  ],
  [
    'a reader in node',
    `${makes('a')} | node -e 'process.stdin.on("data", (d) => process.stdout.write(d + "!"))'`,
    'a\n!',
  ],
  ['a holder in the background', `(${longSleep(602)} & echo a; ${hang}) | tail -1`, 'a\n'],
  [
    'a holder with a session of its own',
    `(setsid ${longSleep(602)} & echo a; ${hang}) | tail -1`,
    'a\n',
  ],
  ['a stopped reader', `${makes('a')} | bash -c 'kill -STOP $$; exec tail -1'`, 'a\n'],
])('W11: at a timeout, %s prints what it has', async (_, command, text) => {
  expect(await ended(command)).toMatchObject({ text, kind: 'timedOut', forced: false });
  expect([...sleeping(601), ...sleeping(602)]).toEqual([]);
});

test('W11: a program that ignores SIGTERM is killed while its reader can still print', async () => {
  const one = await ended(`${stubborn} | tail -1`);
  expect(one).toMatchObject({ text: 'kept\n', kind: 'timedOut', forced: true });
  const two = await ended(`${stubborn} | grep kept | tail -1`);
  expect(two).toMatchObject({ text: 'kept\n', kind: 'timedOut', forced: true });
  for (const { result } of [one, two]) {
    expect(result.durationMs).toBeLessThan(LIMITS.timeoutMs + LIMITS.graceMs + 2000);
  }
});

test('W11: a reader that ignores the end of its input gets SIGTERM, and the grace ends as ever', async () => {
  const deaf = 'import select\nwhile True: select.select([], [], [], 60)';
  const asked = await ended(`${makes('a')} | python3 -c ${quote(deaf)}`);
  expect(asked).toMatchObject({ kind: 'timedOut', forced: false });
  const deafer = `import signal\nsignal.signal(15, signal.SIG_IGN)\n${deaf}`;
  const killed = await ended(`${makes('a')} | python3 -c ${quote(deafer)}`);
  expect(killed).toMatchObject({ kind: 'timedOut', forced: true });
});

test('W11: a loop behind a pipe does not go on with what is left in the pipe', async () => {
  const loop = `seq 100000 | while read -r n; do ${longSleep(603)}; echo "$n"; done`;
  const { text, forced, result } = await ended(loop);
  expect({ text, forced }).toEqual({ text: '', forced: false });
  expect(result.durationMs).toBeLessThan(LIMITS.timeoutMs + 1500);
});

test('W11: what follows a pipeline is not run, and a trap of the shell is', async () => {
  expect((await ended(`${makes('a')} | tail -1; echo after`)).text).toBe('a\n');
  const trapped = `trap 'echo cleaning; sleep 0.3; echo clean; exit 3' TERM; ${makes('a')} | tail -1`;
  const { text, result } = await ended(trapped);
  expect(text).toBe('a\ncleaning\nclean\n');
  expect(result.outcome).toMatchObject({ ending: { kind: 'exited', exitCode: 3 } });
});

test('W11: without a grace all are killed at once', async () => {
  const { forced, text } = await ended(`${makes('a')} | tail -1`, { graceMs: 0 });
  expect({ forced, text }).toEqual({ forced: true, text: '' });
});

describe('W11: the last program prints too', () => {
  test('at a cancellation', async () => {
    const signal = AbortSignal.timeout(1500);
    const { text, kind } = await ended(`${makes('a', 'b')} | tail -1`, {
      timeoutMs: 60_000,
      signal,
    });
    expect({ text, kind }).toEqual({ text: 'b\n', kind: 'cancelled' });
  });

  test('in a terminal', async () => {
    const { text } = await ended(`${makes('a', 'b')} | tail -1`, { pty: true });
    expect(text).toBe('b\r\n');
  });

  test('in a sandbox', async () => {
    const { text } = await ended(`${makes('a', 'b')} | tail -1`, {
      cwd: folder.path,
      sandbox: 'workspace-write',
    });
    expect(text).toBe('b\n');
  });

  test('of a command with an open input', async () => {
    const child = await spawn(`${makes('a', 'b')} | tail -1`, { ...LIMITS, stdin: 'pipe' });
    const result = await child.result;
    expect('output' in result && whole(result.output)).toBe('b\n');
  });

  test('of a detached command', async () => {
    const subject = await tasks.start(`${makes('a', 'b')} | tail -1`, LIMITS);
    await untilState(subject, 'ended');
    expect(await printedBy(subject)).toBe('b\n');
  });

  test('of a call in a persistent shell', async () => {
    const tool = createBashTool({ contract: 'session', cwd: folder.path, persistent: true });
    const answer = await tool.execute({ command: `${makes('a', 'b')} | tail -1`, timeout: 1500 });
    expect(textOf(answer)).toMatch(/^b\n/);
    await tool.dispose();
  });
});

test('W11: disposing of a tool ends a pipeline within its grace', async () => {
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path });
  const answer = failureOf(tool.execute({ command: `${makes('a')} | tail -1` }));
  await sleep(500);
  await tool.dispose();
  await answer;
  expect(sleeping(601)).toEqual([]);
});
