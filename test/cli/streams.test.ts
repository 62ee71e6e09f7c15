import { openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cli, endOf, startCli, startCliOn } from '../support/cli.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();

/** Runs the command line with something on its standard input. */
function fed(input: string, ...args: readonly string[]) {
  const child = startCliOn('pipe', ...args);
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return endOf(child);
}

test.each([
  ['', []],
  [' --json', ['--json']],
])('E1: run%s gives the command what comes on standard input', async (_, flags) => {
  const big = 'line\n'.repeat(200_000);
  const { code, stdout } = await fed(big, 'run', ...flags, 'wc -c');
  expect(code).toBe(0);
  expect(stdout.toString()).toContain(String(big.length));
});

test('E1: a file on standard input is read, too', async () => {
  const stdin = openSync(import.meta.filename, 'r');
  const { stdout } = await endOf(startCliOn([stdin, 'pipe', 'pipe'], 'run', 'head -c 13'));
  expect(stdout.toString()).toBe('import { open');
});

test('E1: a command that does not read ends although standard input is open', async () => {
  const child = startCliOn('pipe', 'run', 'echo done');
  expect(await endOf(child)).toMatchObject({ code: 0, stderr: '' });
});

test('E1: a command that reads a part of it ends as it likes', async () => {
  const { code, stdout, stderr } = await fed('x\n'.repeat(1_000_000), 'run', 'head -n 1; exit 3');
  expect({ code, stderr, stdout: stdout.toString() }).toEqual({
    code: 3,
    stderr: '',
    stdout: 'x\n',
  });
});

test('E1: --no-input leaves standard input alone', async () => {
  const { stdout } = await fed('secret', 'run', '--no-input', 'cat; echo end');
  expect(stdout.toString()).toBe('end\n');
});

test.each([
  ['seq 1 3', 1],
  ['seq 1 1000000', 1],
  ['seq 1 3; exit 7', 7],
])('E3: output that cannot be written is an error: %s', async (command, code) => {
  const full = openSync('/dev/full', 'w');
  const end = await endOf(startCliOn(['ignore', full, 'pipe'], 'run', command));
  expect(end.code).toBe(code);
  expect(end.stderr).toMatch(/^forkline: cannot write the output: ENOSPC.*\n$/);
});

test.each([
  ['seq 1 3; exit 7', 7],
  ['seq 1 3', 141],
  ['echo one; sleep 0.5; exit 7', 7],
  ['echo one; sleep 0.01; echo two; exit 7', 7],
  ['echo one; sleep 0.5; echo two; sleep 30; exit 7', 141],
  ['yes', 141],
])('E3: without a reader the exit code is always the same: %s', async (command, code) => {
  for (const flags of [[], ['--max-output', '10']]) {
    const child = startCli('run', ...flags, command);
    child.stdout?.destroy();
    expect(await endOf(child)).toMatchObject({ code });
  }
});

test('E3: a result that cannot be written is an error, too', async () => {
  const full = openSync('/dev/full', 'w');
  for (const args of [
    ['run', '--json', 'true'],
    ['schema', '--contract', 'plain'],
  ]) {
    const end = await endOf(startCliOn(['ignore', full, 'pipe'], ...args));
    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(/^forkline: cannot write the output: ENOSPC/);
  }
});

test.each([
  [['--cwd', '/nope', 'true'], 126, { kind: 'launch', code: 'ENOENT', step: 'directory' }],
  [['--cwd', '', 'true'], 2, { kind: 'input' }],
  [[' '], 2, { kind: 'input' }],
  [['--spill', '', 'true'], 2, { kind: 'input' }],
])('E6: --json prints one object also when nothing ran: %j', async (args, code, error) => {
  const end = await cli('run', '--json', ...args);
  expect(end.code).toBe(code);
  expect(end.stdout.toString()).toMatch(/^[^\n]*\n$/);
  expect(JSON.parse(end.stdout.toString())).toMatchObject({
    command: args.at(-1),
    error: { ...error, message: expect.any(String) },
  });
  expect(end.stderr).toMatch(/^forkline: .*\n$/);
});

test.each(['SEGV', 'KILL', 'PIPE'])('E7: the end by SIG%s is noted', async (name) => {
  const { stdout, stderr } = await cli('run', `kill -${name} $$`);
  expect(stdout.toString()).toBe('');
  expect(stderr).toBe(`forkline: ended by SIG${name}\n`);
});

test.each([
  ['echo hi', ['echo', 'hi']],
  ['ls -la', ['ls', '-la']],
  ['git log --json', ['git', 'log', '--json']],
])('E8: several words without -- are refused, with advice: %s', async (_, words) => {
  const { code, stdout, stderr } = await cli('run', ...words);
  expect(code).toBe(2);
  expect(stdout.toString()).toBe('');
  expect(stderr).toContain("forkline: quote the command, as in: forkline run 'ls -la', or put --");
});

test('E8: after -- they are the words of one command', async () => {
  const file = folder.file("it's");
  const words = ['printf', '<%s>', 'a  b', '$HOME', '*', '', '--json', '--', file];
  const { code, stdout } = await cli('run', '--', ...words);
  expect(code).toBe(0);
  expect(stdout.toString()).toBe(`<a  b><$HOME><*><><--json><--><${file}>`);
});

test('E8: one word after -- is a text, as without it', async () => {
  const { stdout } = await cli('run', '--', 'echo a; echo b');
  expect(stdout.toString()).toBe('a\nb\n');
});
