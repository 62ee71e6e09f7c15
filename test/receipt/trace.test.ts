import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { afterEach, expect, test } from 'vitest';
import { type CommandTrace, createBashTool, receiptOf, run, spawn } from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

const channel = tracingChannel<unknown, CommandTrace>('forkline:command');
const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
let stopWatching = (): void => {};
afterEach(() => stopWatching());

interface Told {
  readonly event: (typeof EVENTS)[number];
  readonly trace: CommandTrace;
}

/** All that the channel tells from now on. */
function watch(): readonly Told[] {
  const told: Told[] = [];
  const subscribers = {
    start: (trace: CommandTrace) => void told.push({ event: 'start', trace }),
    end: (trace: CommandTrace) => void told.push({ event: 'end', trace }),
    asyncStart: (trace: CommandTrace) => void told.push({ event: 'asyncStart', trace }),
    asyncEnd: (trace: CommandTrace) => void told.push({ event: 'asyncEnd', trace }),
    error: (trace: CommandTrace) => void told.push({ event: 'error', trace }),
  };
  channel.subscribe(subscribers);
  stopWatching = () => channel.unsubscribe(subscribers);
  return told;
}

const eventsOf = (told: readonly Told[]) => told.map(({ event }) => event);

test('subscribers get the start and the end of a command, with the receipt', async () => {
  const told = watch();
  const running = run('echo one; exit 3', { cwd: folder.path, timeoutMs: 5000 });
  expect(eventsOf(told)).toEqual(['start', 'end']);
  expect(told[0]?.trace).toEqual({
    command: 'echo one; exit 3',
    cwd: folder.path,
    timeoutMs: 5000,
    detached: false,
  });
  const result = await running;
  await eventually(() => expect(told).toHaveLength(4));
  expect(eventsOf(told)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  expect(new Set(told.map(({ trace }) => trace)).size).toBe(1);
  expect(told[3]?.trace.result).toBe(result);
  expect(told[3]?.trace.receipt).toEqual(await receiptOf(result));
});

test('subscribers get the error of a command without a result', async () => {
  const told = watch();
  const error = await failureOf(run('true', { cwd: folder.file('nope') }));
  await eventually(() => expect(told).toHaveLength(5));
  expect(eventsOf(told)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
  expect(told[2]?.trace.error).toBe(error);
  expect(told[4]?.trace).not.toHaveProperty('receipt');
});

test('subscribers get a live command once it has ended, and an error of its listener', async () => {
  const told = watch();
  const live = await spawn('cat', { stdin: 'pipe' });
  expect(eventsOf(told)).toEqual(['start', 'end']);
  live.end();
  await live.result;
  await eventually(() => expect(told).toHaveLength(4));
  const reason = new Error('display gone');
  const onOutput = (): never => {
    throw reason;
  };
  expect(await failureOf(run('echo one', { onOutput }))).toBe(reason);
  await eventually(() => expect(told).toHaveLength(9));
  expect(told[6]).toMatchObject({ event: 'error', trace: { error: reason } });
});

test('subscribers get the commands of tools, detached ones too', async () => {
  const told = watch();
  const tool = keep(createBashTool({ contract: 'modes', cwd: folder.path }));
  await tool.execute({ command: 'echo one' });
  await tool.execute({ command: 'true', mode: 'background' });
  await eventually(() => expect(told).toHaveLength(8));
  const ends = told.filter(({ event }) => event === 'asyncEnd').map(({ trace }) => trace);
  expect(ends).toMatchObject([
    { command: 'echo one', detached: false, receipt: { outcome: { exitCode: 0 } } },
    { command: 'true', detached: true },
  ]);
  expect(ends[1]).not.toHaveProperty('receipt');
});

test('a store that is bound to the start is that of the span, in the caller’s own context', async () => {
  const caller = new AsyncLocalStorage<string>();
  const spans = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const subscribers = {
    asyncEnd: () => void seen.push(caller.getStore(), spans.getStore()),
  };
  channel.start.bindStore(spans, ({ command }) => `span of ${command}, ${caller.getStore()}`);
  channel.end.subscribe(onEnd);
  channel.asyncEnd.subscribe(subscribers.asyncEnd);
  stopWatching = () => {
    channel.start.unbindStore(spans);
    channel.end.unsubscribe(onEnd);
    channel.asyncEnd.unsubscribe(subscribers.asyncEnd);
  };
  function onEnd(): void {
    seen.push(spans.getStore());
  }
  await caller.run('Alice', () => run('true'));
  await eventually(() => expect(seen).toHaveLength(3));
  expect(seen).toEqual(['span of true, Alice', 'Alice', 'span of true, Alice']);
  expect(spans.getStore()).toBeUndefined();
});

test('subscribers do not delay a command, and do not get one that never began', async () => {
  const told = watch();
  expect(printed(await run('echo one'))).toBe('one\n');
  await run('true', { signal: AbortSignal.abort() });
  await failureOf(run(' '));
  await failureOf(run('true', { timeoutMs: -1 }));
  await eventually(() => expect(told).toHaveLength(4));
});
