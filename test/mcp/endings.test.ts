import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { longSleep, sleeping } from '../support/commands.js';
import { useFolder } from '../support/leftovers.js';
import { mcpArguments, useRawServers } from '../support/mcp.js';
import { eventually, isGone } from '../support/processes.js';

const folder = useFolder();
const start = useRawServers();

test('I3: a client that closes its end ends what it started, and the server', async () => {
  const server = await start();
  server.call(`setsid ${longSleep(611)} & ${longSleep(612)}`);
  await eventually(() => expect(sleeping(612)).toHaveLength(1));
  server.child.stdin?.end();
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect([...sleeping(611), ...sleeping(612)]).toEqual([]);
});

test('processes that a finished command left running end with the connection', async () => {
  const server = await start();
  const id = server.call(`${longSleep(613)} &`);
  await server.expect((message) => message.id === id);
  expect(sleeping(613)).toHaveLength(1);
  server.child.stdin?.end();
  await server.ended;
  expect(sleeping(613)).toEqual([]);
});

test('processes left running get SIGTERM before SIGKILL', async () => {
  const [ready, goodbye] = [folder.file('ready'), folder.file('goodbye')];
  const server = await start();
  const polite = `trap 'echo bye >${goodbye}; exit' TERM; touch ${ready}; ${longSleep(617)} & wait`;
  const id = server.call(`(${polite}) &`);
  await server.expect((message) => message.id === id);
  await eventually(() => readFileSync(ready));
  server.child.stdin?.end();
  await server.ended;
  expect(readFileSync(goodbye, 'utf8')).toBe('bye\n');
});

test('I3: a client that is killed takes the server and its commands along', async () => {
  const command = longSleep(614);
  // A client of its own process, so that it can die without a word.
  const script = `
    const { spawn } = require('node:child_process');
    const server = spawn(process.execPath, ${JSON.stringify(mcpArguments())});
    const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const clientInfo = { name: 'mortal', version: '1' };
    send({ id: 1, method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    server.stdout.once('data', () => {
      send({ method: 'notifications/initialized' });
      send({ id: 2, method: 'tools/call',
        params: { name: 'bash', arguments: { command: ${JSON.stringify(command)} } } });
    });
    console.log(server.pid);`;
  const client = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const server = await new Promise<number>((resolve) => {
    client.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk)));
  });
  await eventually(() => expect(sleeping(614)).toHaveLength(1));
  client.kill('SIGKILL');
  await eventually(() => expect(sleeping(614)).toEqual([]));
  await eventually(() => expect(isGone(server)).toBe(true));
});

test('a client that stops reading is noticed by the next message to it', async () => {
  const server = await start();
  server.call(longSleep(615));
  await eventually(() => expect(sleeping(615)).toHaveLength(1));
  server.child.stdout?.destroy();
  // Until then nothing need be written: standard input is still open.
  server.send({ jsonrpc: '2.0', id: 'ping', method: 'ping' });
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(sleeping(615)).toEqual([]);
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('%s ends what was started and exits with %d', async (signal, code) => {
  const server = await start();
  server.call(`trap '' INT HUP; ${longSleep(616)}`);
  await eventually(() => expect(sleeping(616)).toHaveLength(1));
  server.child.kill(signal);
  expect(await server.ended).toEqual({ code, signal: null });
  expect(sleeping(616)).toEqual([]);
});

test.each([
  ['closes its end', 0],
  ['sends SIGTERM', 143],
] as const)('a client that reads nothing, and then %s, ends all of it', async (how, code) => {
  const server = await start('--contract', 'session');
  const exit = new Promise((resolve) => server.child.once('exit', resolve));
  server.child.stdout?.pause();
  // Far more than there is room for on the way.
  for (let count = 0; count < 60; count += 1) server.call('seq 10000');
  server.call(longSleep(618));
  await eventually(() => expect(sleeping(618)).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  if (how === 'closes its end') server.child.stdin?.end();
  else server.child.kill('SIGTERM');
  expect(await exit).toBe(code);
  expect(sleeping(618)).toEqual([]);
});

test('many answers that wait for a slow client cause no warning', async () => {
  const server = await start('--contract', 'session');
  server.child.stdout?.pause();
  const ids = Array.from({ length: 40 }, () => server.call('seq 10000'));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  server.child.stdout?.resume();
  for (const id of ids) await server.expect((message) => message.id === id);
  expect(server.stderr()).toBe('');
});
