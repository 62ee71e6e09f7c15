import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type OutputChunk, ToolAbortError } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { answerOf, usePlainTools } from '../../support/plain.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const makeTool = usePlainTools();

test('commands run side by side', async () => {
  const tool = makeTool();
  expect(tool.concurrency).toBe('shared');
  const ends: string[] = [];
  const calls = ['sleep 2; echo slow', 'echo fast'].map(async (command) => {
    ends.push((await answerOf(tool, command)).stdout ?? '');
  });
  await Promise.all(calls);
  expect(ends).toEqual(['fast\n', 'slow\n']);
});

test('cancelling ends the command, and the error has its output so far', async () => {
  const controller = new AbortController();
  const call = makeTool().execute(
    { command: 'echo before; sleep 30' },
    { signal: controller.signal, onOutput: () => controller.abort() },
  );
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({
    message: '{"error":"Command cancelled","stdout":"before\\n","stderr":""}',
    details: { stdout: { bytes: 7, truncated: false } },
  });
});

test('a call cancelled before it begins starts nothing', async () => {
  const call = makeTool().execute({ command: 'echo x' }, { signal: AbortSignal.abort() });
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({ message: 'Command cancelled', details: undefined });
});

test('disposing ends the commands that run, and refuses others', async () => {
  const tool = makeTool();
  const running = failureOf(tool.execute({ command: longSleep(61) }));
  await eventually(() => expect(sleeping(61)).toHaveLength(1));
  await tool.dispose();
  expect(sleeping(61)).toEqual([]);
  expect(await running).toBeInstanceOf(ToolAbortError);
  expect(await failureOf(tool.execute({ command: 'echo x' }))).toMatchObject({ kind: 'disposed' });
});

test('disposing at once starts nothing', async () => {
  const tool = makeTool();
  const call = failureOf(tool.execute({ command: 'echo x' }));
  await tool.dispose();
  expect(await call).toBeInstanceOf(ToolAbortError);
});

test('processes that a command leaves are in the details, and end with the tool', async () => {
  const tool = makeTool();
  const result = await tool.execute({ command: `${longSleep(62)} >/dev/null 2>&1 & echo $!` });
  expect(result.structured).toMatchObject({ exitCode: 0 });
  const pid = Number(String(result.structured?.stdout));
  expect(result.details.background).toMatchObject([{ pid }]);
  await tool.dispose();
  expect(sleeping(62)).toEqual([]);
});

test('a command that a signal ends is an error with the exit code that shells give it', async () => {
  const result = await makeTool().execute({ command: 'echo a; kill -9 $$' });
  expect(result.structured).toEqual({
    error: 'Killed by SIGKILL.',
    stdout: 'a\n',
    stderr: '',
    exitCode: 137,
  });
  expect(result).toMatchObject({
    isError: true,
    details: { failure: 'signaled', signal: 'SIGKILL' },
  });
});

test('a listener to output gets both streams, in pieces that say which', async () => {
  const chunks: OutputChunk[] = [];
  await makeTool().execute(
    { command: 'echo a; echo b >&2; sleep 0.2; echo c' },
    { onOutput: (chunk) => chunks.push(chunk) },
  );
  const textFrom = (stream: string) =>
    chunks.flatMap((chunk) => (chunk.stream === stream ? [chunk.text] : [])).join('');
  expect([textFrom('stdout'), textFrom('stderr')]).toEqual(['a\nc\n', 'b\n']);
});

test('updates have the last output of both streams, and none comes after the result', async () => {
  const updates: string[] = [];
  const command = 'for i in 1 2 3; do echo $i; echo e$i >&2; sleep 0.1; done';
  await makeTool().execute({ command }, { onUpdate: (update) => updates.push(textOf(update)) });
  const count = updates.length;
  expect(count).toBeGreaterThan(1);
  expect(updates.at(-1)).toMatch(/1\n(?:.|\n)*3\n/);
  expect(updates.at(-1)).toContain('e2\n');
  await sleep(120);
  expect(updates.length).toBe(count);
});

test('a command cannot read the terminal or wait for input', async () => {
  expect(await answerOf(makeTool(), 'cat; echo end; tty')).toMatchObject({
    stdout: 'end\nnot a tty\n',
    exitCode: 1,
  });
});
