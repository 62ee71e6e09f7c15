import { expect, test } from 'vitest';
import { createOwner, type MergedResult, type RunResult, run } from '../../src/index.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { startHost } from '../support/hosts.js';
import { descriptorsAtRest, leavesNothingBehind, useOwners } from '../support/leftovers.js';
import { eventually, openDescriptors } from '../support/processes.js';
import { exited, printed } from '../support/results.js';

leavesNothingBehind();
const newOwner = useOwners();

const onTerminal = async (command: string, options = {}): Promise<MergedResult> =>
  merged(await run(command, { pty: true, ...options }));

function merged(result: RunResult): MergedResult {
  if (!('output' in result)) throw new Error('a terminal is one stream');
  return result;
}

test('H1: the end of a terminal is an end, not an error', async () => {
  const result = await onTerminal('true');
  expect(result.outcome).toEqual(exited(0));
  expect(printed(result)).toBe('');
});

test('H2: the last line is there, every time', async () => {
  for (let count = 0; count < 50; count += 1) {
    const result = await onTerminal('seq 1 20000');
    expect(printed(result).endsWith('\r\n19999\r\n20000\r\n')).toBe(true);
    expect(result.output.total.lines).toBe(20_000);
  }
});

test.each([5000, 200_000])(
  'H3: a command of %d characters is not typed into the terminal',
  async (length) => {
    const text = 'x'.repeat(length);
    const result = await onTerminal(`test ${quote(text)} = ${quote(text)} && echo whole`);
    expect(printed(result)).toBe('whole\r\n');
  },
);

test('D5: a hundred commands on terminals leave no descriptor', async () => {
  const owner = newOwner();
  await run('true', { pty: true, owner });
  const before = await descriptorsAtRest();
  for (let count = 0; count < 100; count += 1) await run('true', { pty: true, owner });
  // On a busy machine the thread that sends commands may close what it has sent after their end.
  await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before));
});

test('B1, B2: the deadline ends all processes, also those that left the group', async () => {
  const [one, two] = [longSleep(421), longSleep(422)];
  const result = await onTerminal(`setsid ${one} & bash -c '${two} & ${two}'`, { timeoutMs: 1000 });
  expect(result.outcome).toMatchObject({ kind: 'timedOut' });
  expect([...sleeping(421), ...sleeping(422)]).toEqual([]);
});

test('B4: a command that ignores SIGTERM is killed after the grace period', async () => {
  const command = `trap '' TERM; echo up; ${longSleep(423)}`;
  const result = await onTerminal(command, { timeoutMs: 500, graceMs: 500 });
  expect(result.outcome).toMatchObject({ kind: 'timedOut', forced: true });
  expect(sleeping(423)).toEqual([]);
});

test('B5: a command can clean up on SIGTERM, and its output is kept', async () => {
  const command = `trap 'echo bye; exit 3' TERM; ${longSleep(424)} & wait`;
  const result = await onTerminal(command, { timeoutMs: 500 });
  expect(result.outcome).toMatchObject({ forced: false, ending: exited(3) });
  expect(printed(result)).toBe('bye\r\n');
});

test('A1: remaining processes end with their terminal, unless they ignore SIGHUP', async () => {
  const owner = createOwner();
  const [hung, kept] = [longSleep(425), longSleep(426)];
  const result = await onTerminal(`${hung} & nohup ${kept} >/dev/null & sleep 0.3; echo done`, {
    owner,
  });
  expect(printed(result)).toContain('done\r\n');
  expect(result.background).toMatchObject([{ command: kept }]);
  expect(sleeping(425)).toEqual([]);
  await owner.dispose();
  expect(sleeping(426)).toEqual([]);
});

test('C1: a character that comes in pieces is one character', async () => {
  const result = await onTerminal(`printf 'a\\xe2'; sleep .2; printf '\\x80\\x94b'`);
  expect(printed(result)).toBe('a—b');
});

test('B13: the host keeps its terminal, and is not stopped', async () => {
  // A host that leads a session without a terminal would get the first one that it opens.
  const host = startHost('commands', { under: ['setsid', '--wait'] });
  const { result } = await host.run('bash --norc -i -c "echo hi"', { pty: true });
  expect(result?.output).toMatchObject({ text: expect.stringContaining('hi\r\n') });
  const terminal = await host.run(`ps -o tty= -p $PPID`);
  expect(terminal.result?.output).toMatchObject({ text: expect.stringMatching(/^\?\s*$/) });
  host.child.stdin?.end();
  expect(await host.ended).toEqual({ code: 0, signal: null });
});
