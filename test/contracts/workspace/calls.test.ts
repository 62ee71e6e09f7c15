import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type BashTool,
  createBashTool,
  ToolAbortError,
  type WorkspaceDetails,
} from '../../../src/index.js';
import { failureOf } from '../../support/results.js';
import { answerTo, textOf } from '../../support/tool.js';

let tool: BashTool<WorkspaceDetails>;
beforeEach(() => {
  tool = createBashTool({ contract: 'workspace', cwd: tmpdir(), graceMs: 500 });
});
afterEach(() => tool.dispose());

test('cancelling ends the command, and the error has its output so far', async () => {
  const controller = new AbortController();
  const call = tool.execute(
    { command: 'echo before; sleep 30' },
    { signal: controller.signal, onUpdate: () => controller.abort() },
  );
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({ message: 'before\n\nCommand cancelled' });
});

test('a call cancelled before it begins starts nothing', async () => {
  const signal = AbortSignal.abort();
  const error = await failureOf(tool.execute({ command: 'echo x' }, { signal }));
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({ message: 'Command cancelled', details: undefined });
});

test('calls run one after the other', async () => {
  const commands = ['sleep 0.3; echo first', 'echo second', 'echo third'];
  const ends: string[] = [];
  const calls = commands.map(async (command) => {
    ends.push((await answerTo(tool, { command })).split('\n')[0] ?? '');
  });
  await Promise.all(calls);
  expect(ends).toEqual(['first', 'second', 'third']);
});

test('a directory that the call before makes is there', async () => {
  const name = `forkline-${process.pid}`;
  const make = tool.execute({ command: `mkdir ${name}` });
  const use = answerTo(tool, { command: `rmdir ../${name}; echo used`, cwd: name });
  await make;
  expect(await use).toContain('used\n');
});

test('a call that waits can be cancelled, and never runs', async () => {
  const controller = new AbortController();
  const first = tool.execute({ command: 'sleep 0.5; echo first' });
  const second = failureOf(tool.execute({ command: 'echo x' }, { signal: controller.signal }));
  await sleep(100);
  const started = performance.now();
  controller.abort();
  expect(await second).toBeInstanceOf(ToolAbortError);
  expect(performance.now() - started).toBeLessThan(200);
  expect(textOf(await first)).toContain('first');
});

test('disposing rejects the call that runs and those that wait', async () => {
  const running = failureOf(tool.execute({ command: 'sleep 30' }));
  const waiting = failureOf(tool.execute({ command: 'echo x' }));
  await sleep(200);
  await tool.dispose();
  expect(await running).toBeInstanceOf(ToolAbortError);
  expect(await waiting).toBeInstanceOf(ToolAbortError);
});

test('updates have the last output, at most every 50 ms, and none after the result', async () => {
  const updates: { at: number; text: string }[] = [];
  const onUpdate = (update: { content: { text: string }[] }) => {
    updates.push({ at: performance.now(), text: update.content[0]?.text ?? '' });
  };
  const command = 'for i in $(seq 1 40); do echo $i; sleep 0.01; done';
  await tool.execute({ command }, { onUpdate });
  const count = updates.length;
  expect(count).toBeGreaterThan(3);
  expect(updates.at(-1)?.text).toMatch(/^1\n2\n3\n/);
  const gaps = updates.slice(1).map(({ at }, index) => at - (updates[index]?.at ?? 0));
  // A timer may fire up to a millisecond early by the clock that measures it here.
  expect(Math.min(...gaps)).toBeGreaterThan(48);
  await sleep(120);
  expect(updates.length).toBe(count);
});

test('an update that throws disturbs neither the command nor the host', async () => {
  const warning = new Promise<Error>((resolve) => process.once('warning', resolve));
  const onUpdate = () => {
    throw new Error('display gone');
  };
  const result = await tool.execute({ command: 'echo hi' }, { onUpdate });
  expect(textOf(result)).toContain('hi\n');
  expect((await warning).message).toContain('display gone');
});

test('a listener to output gets all of it in order, each piece once, before the result', async () => {
  const pieces: string[] = [];
  const answer = await tool.execute(
    { command: 'for i in 1 2 3; do echo $i; sleep 0.1; done' },
    { onOutput: ({ text }) => pieces.push(text) },
  );
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe('1\n2\n3\n');
  expect(textOf(answer)).toMatch(/^1\n2\n3\n/);
});
