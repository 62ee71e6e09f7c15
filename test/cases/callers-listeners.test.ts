// H4: what a caller's functions do when they are asynchronous and fail.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type BashTool,
  createBashTool,
  type OutputChunk,
  run,
  TaskManager,
  type ToolCall,
} from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually, isGone } from '../support/processes.js';
import { exited } from '../support/results.js';

leavesNothingBehind();
const keep = useDisposal();

const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => void process.on('unhandledRejection', noteUnhandled));
afterEach(async () => {
  await sleep(20);
  process.off('unhandledRejection', noteUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
  vi.restoreAllMocks();
});

/** A listener that does something else than its type says, as without a type checker. */
const listener = (listen: (chunk: OutputChunk) => unknown) =>
  listen as (chunk: OutputChunk) => void;

/** A promise of no make that is known here. */
const thenable = (reason: unknown, ms = 0) => ({
  // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
  then(_: unknown, reject: (reason: unknown) => void) {
    if (ms === 0) reject(reason);
    else setTimeout(() => reject(reason), ms);
  },
});

const nothing: unknown = Object.create(null);

test.each([
  ['an error', new Error('as told')],
  ['undefined', undefined],
  ['what is no text', nothing],
  ['a symbol', Symbol('as told')],
])('H4: run() rejects with the rejection of a listener: %s', async (_, reason) => {
  for (const onOutput of [
    listener(() => Promise.reject(reason)),
    listener(async () => {
      await undefined;
      throw reason;
    }),
    listener(() => thenable(reason)),
    listener(() => {
      throw reason;
    }),
  ]) {
    const [settled] = await Promise.allSettled([run('echo x', { onOutput })]);
    expect(settled).toEqual({ status: 'rejected', reason });
  }
});

test.each([
  ['a promise', () => sleep(50).then(() => Promise.reject(new Error('as told')))],
  ['another kind of promise', () => thenable(new Error('as told'), 50)],
])('H4: the command is ended when %s is rejected later', async (_, answer) => {
  let told = '';
  const onOutput = listener(({ text }) => {
    told += text;
    return answer();
  });
  const command = `echo $$; ${longSleep(301)}`;
  await expect(run(command, { onOutput, graceMs: 100 })).rejects.toThrow('as told');
  await eventually(() => expect(isGone(Number(told.split('\n')[0]))).toBe(true));
  expect(sleeping(301)).toEqual([]);
});

test('H4: a listener that fails once the call has its answer changes nothing', async () => {
  const onOutput = listener(() => sleep(100).then(() => Promise.reject(new Error('too late'))));
  expect(await run('echo x', { onOutput })).toMatchObject({ outcome: exited(0) });
  await sleep(150);
});

test('H4: a listener whose promise never settles is not waited for', async () => {
  const onOutput = listener(() => new Promise(() => {}));
  expect(await run('echo x', { onOutput })).toMatchObject({ outcome: exited(0) });
});

test('H4: a listener may return any value', async () => {
  for (const value of [5, 'x', null, [1], {}, () => {}, Object.create(null), Promise.resolve(1)]) {
    expect(await run('echo x', { onOutput: listener(() => value) })).toMatchObject({
      outcome: exited(0),
    });
  }
});

const TOOLS: readonly (() => BashTool)[] = [
  () => createBashTool({ contract: 'workspace', cwd: '/' }),
  () => createBashTool({ contract: 'modes', cwd: '/' }),
  () => createBashTool({ contract: 'session', cwd: '/' }),
  () => createBashTool({ contract: 'plain' }),
];

test.each(TOOLS)(
  'H4: a warning reports that a listener of a tool has failed, with any value',
  async (make) => {
    const tool = keep(make());
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const call = {
      onUpdate: () => thenable(nothing),
      onOutput: () => Promise.reject(nothing),
    } as unknown as ToolCall<unknown>;
    await tool.execute({ command: 'echo x; sleep 0.1; echo y' }, call);
    await sleep(20);
    expect(warn.mock.calls.map(([message]) => String(message)).toSorted()).toEqual([
      'onOutput threw, it is not called again: an object',
      'onUpdate threw, it is not called again: an object',
    ]);
  },
);

test("H4: a task manager's onEnd may fail in any way", async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const tasks = new TaskManager({ onEnd: listener(() => thenable(nothing)) as () => void });
  const tool = keep(createBashTool({ contract: 'workspace', cwd: '/', async: true, tasks }));
  await tool.execute({ command: 'true', async: true });
  await eventually(() => expect(warn).toHaveBeenCalledOnce());
  expect(String(warn.mock.calls[0]?.[0])).toBe('onEnd threw for task bg_1: an object');
});

test('H4: functions that must not be asynchronous, and are, fail like any wrong answer', async () => {
  const fails = () => Promise.reject(new Error('nobody asked')) as never;
  const told: string[] = [];
  const logger = { warn: (message: string) => void told.push(message) };
  const tool = keep(
    createBashTool({
      contract: 'workspace',
      cwd: '/',
      logger,
      interceptor: { enabled: true, tools: fails },
      minimizer: { filters: [{ name: 'mine', filter: fails }] },
    }),
  );
  await tool.execute({ command: 'echo x' });
  expect(told).toEqual([
    expect.stringContaining('expected an array of names'),
    expect.stringContaining('Output filter mine was not applied'),
  ]);
  expect(() => createBashTool({ contract: 'modes', cwd: fails })).toThrow('cwd: expected a path');
});
