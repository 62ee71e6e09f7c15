import { expect, test } from 'vitest';
import { LaunchError, run } from '../../src/index.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { exited, failureOf, printed } from '../support/results.js';
import { textOf, useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();

const newTool = useWorkspaceTools(folder);

test.each([131_071, 131_072, 200_000, 2_000_000])(
  'G1: a command of %i bytes runs',
  async (length) => {
    const end = '\necho "last $#"; read x; echo "rc=$?"; exit 7';
    const command = `: ${'x'.repeat(length - end.length - 2)}${end}`;
    expect(command.length).toBe(length);
    const result = await run(command);
    expect(result.outcome).toEqual(exited(7));
    expect(printed(result)).toBe('last 0\nrc=1\n');
  },
);

test('G1: a long command for sh runs too', async () => {
  const command = `: ${'x'.repeat(200_000)}\necho last; exit 7`;
  const result = await run(command, { shell: ['/bin/sh'] });
  expect(result.outcome).toEqual(exited(7));
  expect(printed(result)).toBe('last\n');
});

test('G2: an environment variable that is too long is named', async () => {
  const error = await failureOf(run('true', { env: { BIG_ONE: 'x'.repeat(131_072) } }));
  expect(error).toBeInstanceOf(LaunchError);
  expect(error).toMatchObject({ code: 'E2BIG', step: 'exec' });
  expect((error as Error).message).toContain('BIG_ONE');
  expect((error as Error).message).not.toContain('xxx');
});

test('G2: one that just fits is passed on', async () => {
  const value = 'x'.repeat(131_071 - 'BIG_ONE='.length);
  const result = await run('printf %s "$BIG_ONE" | wc -c', { env: { BIG_ONE: value } });
  expect(printed(result)).toBe(`${value.length}\n`);
});

test('G2: the answer names the variable to the model', async () => {
  const input = { command: 'true', env: { BIG_ONE: 'x'.repeat(131_072) } };
  expect(await failureOf(newTool().execute(input))).toMatchObject({
    kind: 'launch',
    message: expect.stringContaining('BIG_ONE'),
  });
});

test.each([
  [99_999_999, 3600],
  [2 ** 31, 3600],
  [0, 1],
  [-1, 1],
])('G3: a timeout of %d s is clamped to %d s, with a notice', async (timeout, clamped) => {
  const answer = await newTool().execute({ command: 'sleep 0.2; echo lived', timeout });
  expect(textOf(answer)).toMatch(/^lived\n/);
  expect(textOf(answer)).toContain(
    `Timeout clamped to ${clamped}s (requested ${timeout}s; allowed range 1-3600s).`,
  );
});

test.each([['5'], [[]], [true], [Number.NaN]])(
  'G3: a timeout of %j is an input error',
  async (timeout) => {
    const failure = await failureOf(newTool().execute({ command: 'echo ran', timeout }));
    expect(failure).toMatchObject({ kind: 'input' });
    expect((failure as Error).message).toMatch(/^timeout: expected a number, got /);
  },
);

test.each([2 ** 31, 99_999_999_000, Number.MAX_VALUE, Number.POSITIVE_INFINITY])(
  'G3: a timeoutMs of %d kills nothing',
  async (timeoutMs) => {
    const result = await run('sleep 0.2; echo lived', { timeoutMs });
    expect(result.outcome).toEqual(exited(0));
    expect(printed(result)).toBe('lived\n');
  },
);

test.each([Number.NaN, -1, 0, '5'])(
  'G3: a timeoutMs of %j is an input error',
  async (timeoutMs) => {
    const error = await failureOf(run('echo ran', { timeoutMs: timeoutMs as number }));
    expect(error).toMatchObject({
      name: 'InputError',
      message: `timeoutMs: expected a number of milliseconds above 0, got ${JSON.stringify(timeoutMs) === 'null' ? 'NaN' : JSON.stringify(timeoutMs)}`,
    });
  },
);

test('G4: a pipe whose reader has gone ends the writer by SIGPIPE', async () => {
  const result = await run('set -o pipefail; yes | head -1');
  expect(printed(result)).toBe('y\n');
  expect(result.outcome).toEqual(exited(141));
});

test('G4: no signal is ignored or blocked, whatever the host does with its own', async () => {
  const onSignal = () => {};
  process.on('SIGUSR1', onSignal);
  const result = await run('cat /proc/self/status');
  process.off('SIGUSR1', onSignal);
  const masks = printed(result).match(/(?<=^Sig(Blk|Ign|Cgt):\t).*/gm);
  expect(masks).toEqual(['0000000000000000', '0000000000000000', '0000000000000000']);
});

test.each(['0077', '0022'])("G5: a command's umask is the host's, %s", async (umask) => {
  const host = startHost('commands', { under: ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh'] });
  const { result } = await host.run('umask');
  expect(result && printed(result)).toBe(`${umask}\n`);
  host.child.stdin?.end();
  expect(await host.ended).toEqual({ code: 0, signal: null });
});

test.each([
  ['exit 300', 44],
  ['exit -1', 255],
  ['exit 255', 255],
  ['kill -9 $BASHPID & wait $!', 137],
])('G6: %s has the exit code %d', async (command, code) => {
  expect((await run(command)).outcome).toEqual(exited(code));
});
