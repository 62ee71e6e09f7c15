import { execFileSync } from 'node:child_process';
import {
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { type McpEvent, openCallLog } from '../../src/mcp/index.js';
import { useFolder } from '../support/leftovers.js';
import { useClients } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

const folder = useFolder();
const clients = useClients();
const event: McpEvent = { event: 'disconnected', session: 's' };
const refuse = (message: string) => {
  throw new Error(message);
};

function linesOf(path: string): Record<string, unknown>[] {
  const text = readFileSync(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('events are appended as lines of JSON with their times, for the owner alone', async () => {
  const path = folder.file('appended');
  for (const session of ['first', 'second']) {
    const log = openCallLog(path, refuse);
    log.write({ ...event, session });
    await log.close();
  }
  const lines = linesOf(path);
  expect(lines.map(({ session }) => session)).toEqual(['first', 'second']);
  for (const { time } of lines) expect(new Date(String(time)).toISOString()).toBe(time);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('several logs may write to one file', async () => {
  const path = folder.file('shared');
  const logs = Array.from({ length: 4 }, () => openCallLog(path, refuse));
  for (let i = 0; i < 200; i += 1) for (const log of logs) log.write(event);
  await Promise.all(logs.map((log) => log.close()));
  expect(linesOf(path)).toHaveLength(800);
});

test('a log that cannot be written is reported once', async () => {
  const told: string[] = [];
  const log = openCallLog(folder.file('none/log'), (message) => told.push(message));
  log.write(event);
  await log.close();
  log.write(event);
  await log.close();
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('none/log');
});

test('an unread pipe holds nothing up', async () => {
  const path = folder.file('pipe');
  execFileSync('mkfifo', [path]);
  const told: string[] = [];
  const log = openCallLog(path, (message) => told.push(message));
  log.write(event);
  await log.close();
  expect(told).toHaveLength(1);
});

test('a disk that is too slow costs bounded memory, and what was lost is counted', async () => {
  const path = folder.file('flood');
  const told: string[] = [];
  const log = openCallLog(path, (message) => told.push(message));
  const session = 'x'.repeat(1000);
  for (let i = 0; i < 5000; i += 1) log.write({ ...event, session });
  await new Promise((resolve) => setTimeout(resolve, 200));
  log.write(event);
  await log.close();
  const lines = linesOf(path);
  const lost = lines.reduce((sum, line) => sum + Number(line.lost ?? 0), 0);
  expect(lost).toBeGreaterThan(0);
  expect(lines.length + lost).toBe(5001);
  expect(told).toEqual([expect.stringContaining('the disk is too slow')]);
});

test('L5: after a disk was full for a moment the log goes on, and tells what was lost', async () => {
  const [path, disk] = [folder.file('moment'), folder.file('disk')];
  symlinkSync('/dev/full', path);
  const told: string[] = [];
  const log = openCallLog(path, (message) => told.push(message));
  for (const session of ['one', 'two']) {
    log.write({ ...event, session });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  unlinkSync(path);
  symlinkSync(disk, path);
  for (const session of ['three', 'four']) log.write({ ...event, session });
  await log.close();
  expect(linesOf(disk)).toMatchObject([{ session: 'three', lost: 2 }, { session: 'four' }]);
  expect(linesOf(disk)[1]).not.toHaveProperty('lost');
  expect(told).toEqual([expect.stringContaining('ENOSPC')]);
});

test('L5: a log that was moved away begins anew', async () => {
  const path = folder.file('rotated');
  const client = await clients.stdio(['--log', path]);
  const call = (command: string) => client.callTool({ name: 'bash', arguments: { command } });
  await call('echo before');
  await eventually(() => expect(readFileSync(path, 'utf8')).toContain('"ok"'));
  renameSync(path, `${path}.1`);
  await call('echo after');
  await client.close();
  expect(linesOf(path)).toMatchObject([{ command: 'echo after' }, {}, { event: 'disconnected' }]);
  expect(linesOf(`${path}.1`)).toHaveLength(3);
});

test('forkline mcp --log has the calls of its client', async () => {
  const path = folder.file('server');
  writeFileSync(path, '{"kept":true}\n');
  const client = await clients.stdio(['--log', path]);
  await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
  await client.callTool({ name: 'bash', arguments: { command: 'exit 1' } });
  await client.close();
  expect(linesOf(path)).toMatchObject([
    { kept: true },
    { event: 'connected', client: 'test 1.0.0' },
    { event: 'call', tool: 'bash', command: 'echo hi' },
    { event: 'result', outcome: 'ok' },
    { event: 'call', command: 'exit 1' },
    { event: 'result', outcome: 'failed' },
    { event: 'disconnected' },
  ]);
});

test('a log that cannot be written fails no call', async () => {
  const client = await clients.stdio(['--log', folder.file('none/log')]);
  const result = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
  expect(JSON.stringify(result)).toContain('hi');
});
