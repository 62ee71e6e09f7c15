import { realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { data, useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('Scenario: Simple command execution', async () => {
  const answer = await newSession().execute({ command: 'echo hello' });
  expect(answer.structured).toMatchObject({ stdout: 'hello\n', stderr: '', exit_code: 0 });
  expect(textOf(answer)).toBe('hello');
});

test('Scenario: Command with non-zero exit', async () => {
  const answer = await newSession().execute({ command: 'exit 42' });
  expect(answer.structured).toMatchObject({ exit_code: 42 });
  expect(answer.isError).toBeUndefined();
  expect(textOf(answer)).toBe('(no output)\n\nCommand exited with code 42');
});

test('Scenario: Command producing stderr', async () => {
  const answer = await newSession().execute({ command: 'echo err >&2' });
  expect(answer.structured).toMatchObject({ stdout: '', stderr: 'err\n', exit_code: 0 });
  expect(textOf(answer)).toBe('stderr:\nerr');
});

test('Scenario: Timeout in milliseconds', async () => {
  const answer = await newSession().execute({ command: 'sleep 300', timeout: 5000 });
  expect(answer.structured).toMatchObject({ timed_out: true });
  expect(answer.details.durationMs).toBeGreaterThanOrEqual(5000);
  expect(answer.details.durationMs).toBeLessThan(20_000);
});

test('Scenario: Timeout max cap', async () => {
  const answer = await newSession().execute({ command: 'true', timeout: 900_000 });
  expect(answer.details).toMatchObject({ timeoutMs: 600_000, requestedTimeoutMs: 900_000 });
  expect(textOf(answer)).toContain('Timeout clamped to 600000 ms (requested 900000 ms');
});

test('Scenario: Default timeout', async () => {
  const ordinary = await newSession().execute({ command: 'true' });
  expect(ordinary.details.timeoutMs).toBe(120_000);
  const configured = await newSession({ timeoutMs: 30_000 }).execute({ command: 'true' });
  expect(configured.details.timeoutMs).toBe(30_000);
  const clamped = await newSession({ timeoutMs: 900_000 }).execute({ command: 'true' });
  expect(clamped.details.timeoutMs).toBe(600_000);
});

test('Scenario: Shell selection prefers bash', async () => {
  const answer = await data(newSession(), 'readlink /proc/$$/exe');
  expect(answer.stdout).toBe(`${realpathSync('/bin/bash')}\n`);
});

test('Scenario: Shell selection falls back to sh', async () => {
  const tool = newSession({ shell: ['/no/such/bash', '/bin/sh'] });
  expect(await data(tool, 'cd /usr; echo "$0 $# $BASH"')).toMatchObject({
    stdout: 'sh 0 \n',
    exit_code: 0,
    cwd: '/usr',
  });
});

test('Scenario: Command exceeds timeout', async () => {
  const command = `${longSleep(300)} & ${longSleep(300)}`;
  const answer = await newSession().execute({ command, timeout: 1000 });
  expect(answer.details.durationMs).toBeLessThan(10_000);
  expect(answer.structured).toMatchObject({ timed_out: true, exit_code: null, signal: 'SIGTERM' });
  expect(textOf(answer)).toBe(
    '(no output)\n\nCommand timed out after 1 second\n' +
      'It was killed. For more time, pass a larger `timeout`, or `run_in_background: true` without one.',
  );
  expect(answer.isError).toBeUndefined();
  expect(sleeping(300)).toEqual([]);
});

test('Scenario: Partial output preserved on timeout', async () => {
  const command = 'echo before; echo wrong >&2; sleep 300';
  const answer = await data(newSession(), command, { timeout: 1000 });
  expect(answer).toMatchObject({ stdout: 'before\n', stderr: 'wrong\n', timed_out: true });
});

test('Scenario: SIGTERM allows graceful shutdown', async () => {
  const command = "trap 'echo bye; exit 3' TERM; sleep 300 & wait";
  const answer = await newSession({ graceMs: 5000 }).execute({ command, timeout: 1000 });
  expect(answer.structured).toMatchObject({ stdout: 'bye\n', timed_out: true, exit_code: 3 });
  expect(answer.details.outcome).toMatchObject({ kind: 'timedOut', forced: false });
});

test('Scenario: SIGKILL after grace period', async () => {
  const command = `trap '' TERM; ${longSleep(301)}`;
  const answer = await newSession({ graceMs: 1000 }).execute({ command, timeout: 500 });
  expect(answer.structured).toMatchObject({ timed_out: true, exit_code: null, signal: 'SIGKILL' });
  expect(textOf(answer)).toContain('with SIGKILL since it did not end by SIGTERM');
  await eventually(() => expect(sleeping(301)).toEqual([]));
});

const print = (characters: number) => `head -c ${characters} /dev/zero | tr '\\0' x`;
const shown = 'x'.repeat(30_000);
const note = (name: string, total: string) =>
  `\n[${name} truncated: it has ${total} characters, of which the first 30,000 are shown]`;

test('Scenario: Output within limit', async () => {
  const answer = await data(newSession(), print(10_000));
  expect(answer.stdout).toBe('x'.repeat(10_000));
});

test('Scenario: Stdout exceeds limit', async () => {
  const answer = await data(newSession(), print(50_000));
  expect(answer.stdout).toBe(shown + note('stdout', '50,000'));
  expect(answer.stdout_characters).toBe(50_000);
});

test('Scenario: Stderr truncated independently', async () => {
  const answer = await data(newSession(), `{ ${print(40_000)}; } >&2; ${print(5000)}`);
  expect(answer.stderr).toBe(shown + note('stderr', '40,000'));
  expect(answer.stdout).toBe('x'.repeat(5000));
});

test('Scenario: Truncation happens after sentinel parsing', async () => {
  const tool = newSession();
  const answer = await data(tool, `${print(50_000)}; cd /usr`);
  expect(answer.stdout).toBe(shown + note('stdout', '50,000'));
  expect(await data(tool, 'pwd')).toMatchObject({ stdout: '/usr\n' });
});

test('Scenario: Progress notifications sent during execution', async () => {
  const chunks: string[] = [];
  const updates: string[] = [];
  const command = 'for i in 1 2 3; do echo out $i; echo err $i >&2; sleep .3; done';
  const answer = await newSession().execute(
    { command },
    {
      onOutput: ({ stream, text }) => chunks.push(`${stream}: ${text}`),
      onUpdate: (update) => updates.push(textOf(update)),
    },
  );
  expect(chunks.length).toBeGreaterThan(2);
  const of = (stream: string) =>
    chunks.filter((chunk) => chunk.startsWith(stream)).map((chunk) => chunk.slice(8));
  expect(of('stdout').join('')).toBe(answer.structured?.stdout);
  expect(of('stderr').join('')).toBe(answer.structured?.stderr);
  expect(updates.at(-1)).toContain('out 3');
});

test('Scenario: Final result is self-contained', async () => {
  const command = 'for i in 1 2 3; do echo out $i; echo err $i >&2; sleep .1; done';
  expect(await data(newSession(), command)).toMatchObject({
    stdout: 'out 1\nout 2\nout 3\n',
    stderr: 'err 1\nerr 2\nerr 3\n',
    exit_code: 0,
  });
});
