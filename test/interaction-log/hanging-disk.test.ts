import { expect, test, vi } from 'vitest';
import { createBashTool, createInteractionLog } from '../../src/index.js';

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<typeof import('node:fs/promises')>()),
  open: () => new Promise(() => {}),
}));

test('a disk that hangs delays neither a command nor the end of its tool, and is reported', async () => {
  const told: string[] = [];
  const logger = { warn: (message: string) => told.push(message) };
  const log = createInteractionLog({ path: '/log', flushMs: 200, maxPendingBytes: 500, logger });
  const tool = createBashTool({ contract: 'plain', log });
  for (let index = 0; index < 10; index += 1) {
    const { structured } = await tool.execute({ command: 'echo a' });
    expect(structured).toMatchObject({ stdout: 'a\n' });
  }
  await tool.dispose();
  expect(told).toEqual(['interaction log: /log cannot be written: the disk is too slow']);
});

test('a flush ends when its time is up', async () => {
  const told: string[] = [];
  const logger = { warn: (message: string) => told.push(message) };
  const log = createInteractionLog({ path: '/log', flushMs: 100, logger });
  await log.flush();
  expect(told).toEqual([]);
  const none = { stdoutBytes: 0, stderrBytes: 0, durationMs: 0 };
  log.append({ time: new Date().toISOString(), command: 'x', ...none });
  await log.flush();
  expect(told).toEqual(['interaction log: /log cannot be written: the disk does not answer']);
});

test('C3: a flush can wait for longer than the longest timer of Node', async () => {
  const told: string[] = [];
  const logger = { warn: (message: string) => told.push(message) };
  const log = createInteractionLog({ path: '/log', flushMs: 2 ** 31, logger });
  const none = { stdoutBytes: 0, stderrBytes: 0, durationMs: 0 };
  log.append({ time: new Date().toISOString(), command: 'x', ...none });
  vi.useFakeTimers();
  void log.flush();
  await vi.advanceTimersByTimeAsync(2 ** 31 - 1);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();
  expect(told).toEqual(['interaction log: /log cannot be written: the disk does not answer']);
});
