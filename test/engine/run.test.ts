import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type OutputChunk, run, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { exited, failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

test('the result has the command, its pid, its duration and its resource use', async () => {
  const result = await run('echo $$');
  expect(result).toEqual({
    command: 'echo $$',
    pid: Number(printed(result)),
    outcome: exited(0),
    durationMs: expect.any(Number),
    engine: 'native',
    cpu: { userMs: expect.any(Number), systemMs: expect.any(Number) },
    peakMemory: { kind: 'measured', bytes: expect.any(Number) },
    output: expect.anything(),
    background: [],
    heldBack: [],
  });
});

test('time is measured from the launch to the end of the command, not of its children', async () => {
  const { durationMs } = await run('sleep 0.3');
  expect(durationMs).toBeGreaterThanOrEqual(300);
  const shorter = await run('sleep 0.4 & sleep 0.1');
  expect(shorter.durationMs).toBeLessThan(400);
});

test('CPU time is that of the command and the children that it waited for', async () => {
  const spin = 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done';
  const idle = await run('sleep 0.1');
  expect((idle.cpu?.userMs ?? 0) + (idle.cpu?.systemMs ?? 0)).toBeLessThan(100);
  const busy = await run(`(${spin}); :`);
  expect(busy.cpu?.userMs).toBeGreaterThan(100);
  expect(busy.cpu?.userMs).toBeLessThan(busy.durationMs + 20);
  const inKernel = await run('head -c 3000000000 /dev/zero >/dev/null; :');
  expect(inKernel.cpu?.systemMs).toBeGreaterThan(20);
});

test('peak memory is that of the largest process', async () => {
  const size = process.memoryUsage.rss() + 300_000_000;
  const { peakMemory } = await run(`python3 -c "b = bytearray(${size}); print(len(b))"`);
  expect(peakMemory?.kind).toBe('measured');
  expect(peakMemory?.bytes).toBeGreaterThan(size);
  expect(peakMemory?.bytes).toBeLessThan(size + 100_000_000);
});

test("peak memory is the command's own, however large the host is", async () => {
  const { peakMemory } = await run('true');
  expect(peakMemory?.kind).toBe('measured');
  expect(peakMemory?.bytes).toBeGreaterThan(1_000_000);
  expect(peakMemory?.bytes).toBeLessThan(process.memoryUsage.rss() / 4);
});

test('a signal aborted before the call starts nothing', async () => {
  const signal = AbortSignal.abort();
  expect((await run('true', { signal })).outcome).toMatchObject({
    kind: 'cancelled',
    ending: { kind: 'neverStarted' },
  });
  const reason = new Error('not any more');
  expect(await failureOf(spawn('true', { signal: AbortSignal.abort(reason) }))).toBe(reason);
});

test('a signal aborted while the command runs ends it, with its output so far', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const onOutput = () => controller.abort();
  const result = await run(`echo before; ${longSleep(601)}`, { signal, onOutput });
  expect(result.outcome).toEqual({
    kind: 'cancelled',
    by: 'signal',
    forced: false,
    ending: { kind: 'signaled', signal: 'SIGTERM' },
  });
  expect(printed(result)).toBe('before\n');
  expect(sleeping(601)).toEqual([]);
});

test('aborting twice, or afterwards, changes nothing', async () => {
  const controller = new AbortController();
  const call = run(longSleep(602), { signal: controller.signal });
  await sleep(50);
  controller.abort();
  controller.abort();
  const result = await call;
  expect(result.outcome.kind).toBe('cancelled');
  controller.abort();
  expect(await call).toBe(result);
});

test('one signal may end many commands, and no listener stays on it', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  for (let count = 0; count < 20; count += 1) await run('true', { signal });
  await failureOf(run('true', { signal, cwd: folder.file('nowhere') }));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const calls = [run(longSleep(603), { signal }), run(longSleep(603), { signal })];
  const live = await spawn(longSleep(603), { signal });
  controller.abort();
  for (const { outcome } of await Promise.all([...calls, live.result])) {
    expect(outcome.kind).toBe('cancelled');
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(sleeping(603)).toEqual([]);
});

test('AbortSignal.timeout() is a cancellation, timeoutMs a timeout', async () => {
  const cancelled = await run(longSleep(604), { signal: AbortSignal.timeout(100) });
  expect(cancelled.outcome.kind).toBe('cancelled');
  const timedOut = await run(longSleep(604), { timeoutMs: 100 });
  expect(timedOut.outcome).toMatchObject({ kind: 'timedOut', timeoutMs: 100 });
  expect(timedOut.durationMs).toBeGreaterThanOrEqual(100);
});

test('a listener that throws ends the command, and the call rejects with its error', async () => {
  const thrown = new Error('from the listener');
  let calls = 0;
  const onOutput = () => {
    calls += 1;
    throw thrown;
  };
  const command = `trap 'echo more' TERM; echo one; ${longSleep(605)} & wait; echo two`;
  expect(await failureOf(run(command, { onOutput }))).toBe(thrown);
  expect(calls).toBe(1);
  expect(sleeping(605)).toEqual([]);
});

test('a listener may throw a value that is no Error, and at the very end', async () => {
  const throws = () => {
    throw undefined;
  };
  await expect(run('echo x', { onOutput: throws })).rejects.toBeUndefined();
});

test('a listener that blocks does not delay a command, and gets the number of missed bytes', async () => {
  const chunks: OutputChunk[] = [];
  const onOutput = (chunk: OutputChunk) => {
    chunks.push(chunk);
    const until = performance.now() + 100;
    while (performance.now() < until);
  };
  const result = await run('seq 1 2000000', { onOutput });
  const text = chunks.map((chunk) => chunk.text).join('');
  const dropped = chunks.reduce((sum, chunk) => sum + chunk.droppedBytes, 0);
  expect(text.length + dropped).toBe(result.output.total.bytes);
  expect(result.output.total.lines).toBe(2_000_000);
  expect(text.endsWith('\n2000000\n')).toBe(true);
});

test('a listener has got all output when the call resolves', async () => {
  for (let count = 0; count < 50; count += 1) {
    let text = '';
    await run('echo a; echo b >&2; printf c', { onOutput: (chunk) => (text += chunk.text) });
    expect(text).toBe('a\nb\nc');
  }
});

test('many commands at once get each its own output', where(descriptors(4096)), async () => {
  const commands = Array.from({ length: 300 }, (_, index) =>
    run(`echo ${index}; exit ${index % 7}`),
  );
  for (const [index, result] of (await Promise.all(commands)).entries()) {
    expect([printed(result), result.outcome]).toEqual([`${index}\n`, exited(index % 7)]);
  }
});
