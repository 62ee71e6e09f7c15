import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { InteractionEntry } from '../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { answerOf, usePlainTools } from '../../support/plain.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = usePlainTools();

const entriesIn = (path: string): InteractionEntry[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('each command is a line with its exit code and sizes, and without its output', async () => {
  const path = folder.file('commands.log');
  const tool = makeTool({ log: path });
  const before = Date.now();
  await tool.execute({ command: 'printf secret; printf é >&2; exit 3' });
  await tool.dispose();
  const text = readFileSync(path, 'utf8');
  const [{ time, durationMs, receipt, ...entry }] = entriesIn(path) as [InteractionEntry];
  expect(entry).toEqual({
    command: 'printf secret; printf é >&2; exit 3',
    exitCode: 3,
    stdoutBytes: 6,
    stderrBytes: 2,
  });
  expect(new Date(time).toISOString()).toBe(time);
  expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
  expect(durationMs).toBeGreaterThanOrEqual(0);
  expect(text.match(/secret/g)).toHaveLength(1);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('all commands are logged: what failed, timed out, was cancelled or never ran', async () => {
  const path = folder.file('all.log');
  const tool = makeTool({ log: path, timeout: 1 });
  const controller = new AbortController();
  await tool.execute({ command: 'no-such-program' });
  await tool.execute({ command: 'echo a; sleep 30' });
  await failureOf(
    tool.execute(
      { command: 'echo ab; sleep 30' },
      { signal: controller.signal, onOutput: () => controller.abort() },
    ),
  );
  await tool.execute({ command: ' ' });
  await tool.execute({ command: 'kill -9 $$' });
  await tool.execute({ cmd: 'no command' });
  await tool.dispose();
  const none = { stdoutBytes: 0, stderrBytes: 0 };
  const notFound = 'bash: line 1: no-such-program: command not found';
  expect(entriesIn(path).map(({ time, durationMs, receipt, ...entry }) => entry)).toEqual([
    {
      command: 'no-such-program',
      exitCode: 127,
      error: notFound,
      stdoutBytes: 0,
      stderrBytes: notFound.length + 1,
    },
    {
      command: 'echo a; sleep 30',
      error:
        'Command timed out after 1 second\nFor more time, start it with `&` and its output in a file, and read the file later.',
      ...none,
      stdoutBytes: 2,
    },
    { command: 'echo ab; sleep 30', error: 'Command cancelled', ...none, stdoutBytes: 3 },
    { command: ' ', error: 'command: expected a shell command, got " "', ...none },
    { command: 'kill -9 $$', exitCode: 137, error: 'Killed by SIGKILL.', ...none },
  ]);
});

test('sizes are those of all that was printed', async () => {
  const path = folder.file('sizes.log');
  const tool = makeTool({ log: path, maxStdoutBytes: 10 });
  await tool.execute({ command: 'head -c 5000000 /dev/zero' });
  await tool.dispose();
  expect(entriesIn(path)).toMatchObject([{ stdoutBytes: 5_000_000 }]);
});

test('a log that cannot be written fails no command, and is reported once', async () => {
  const told: string[] = [];
  const log = folder.file('nowhere/x.log');
  const tool = makeTool({ log, logger: { warn: (message) => told.push(message) } });
  for (const word of ['a', 'b', 'c']) {
    expect(await answerOf(tool, `echo ${word}`)).toMatchObject({ stdout: `${word}\n` });
  }
  await tool.dispose();
  expect(told).toEqual([
    expect.stringContaining(`interaction log: ${log} cannot be written: ENOENT`),
  ]);
});

test("a runtime's own log gets the entries, and is flushed when the tool is disposed of", async () => {
  const entries: InteractionEntry[] = [];
  let flushed = false;
  const tool = makeTool({
    log: {
      append: (entry) => void entries.push(entry),
      flush: async () => {
        flushed = true;
      },
    },
  });
  await tool.execute({ command: 'exit 3' });
  expect(entries).toMatchObject([{ command: 'exit 3', exitCode: 3 }]);
  await tool.dispose();
  expect(flushed).toBe(true);
});

test("a runtime's log that throws or rejects is reported once, and no command notices", async () => {
  const failures = [
    () => {
      throw new Error('full');
    },
    () => Promise.reject(new Error('full')),
  ];
  for (const append of failures) {
    const told: string[] = [];
    const tool = makeTool({ log: { append }, logger: { warn: (message) => told.push(message) } });
    expect(await answerOf(tool, 'echo a')).toMatchObject({ stdout: 'a\n' });
    expect(await answerOf(tool, 'echo b')).toMatchObject({ stdout: 'b\n' });
    await tool.dispose();
    expect(told).toEqual(['log: an entry could not be written: Error: full']);
  }
});

test('a log that is there keeps what it has, and its mode', async () => {
  const path = folder.file('kept.log');
  mkdirSync(folder.file('sub'), { recursive: true });
  for (const command of ['echo 1', 'echo 2']) {
    const tool = makeTool({ log: path });
    await tool.execute({ command });
    await tool.dispose();
    chmodSync(path, 0o640);
  }
  expect(entriesIn(path).map(({ command }) => command)).toEqual(['echo 1', 'echo 2']);
  expect(statSync(path).mode & 0o777).toBe(0o640);
});
