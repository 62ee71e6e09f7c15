import { expect, test } from 'vitest';
import { longSleep, sleeping } from '../support/commands.js';
import { answerOf, toldOf, useClients } from '../support/mcp.js';
import { initialize, openSession, rpc, send, start, useServices } from '../support/mcp-http.js';
import { toolOf } from '../support/mcp-tool.js';
import { eventually } from '../support/processes.js';

const clients = useClients();
const serve = useServices();
const bash = (id: number, command: string, more: object = {}) =>
  rpc(id, 'tools/call', { name: 'bash', arguments: { command }, ...more });

test.each(['legacy', 'auto'] as const)('an official client lists and calls (%s)', async (mode) => {
  const { url, token } = await serve();
  const client = await clients.http(url, token, { versionNegotiation: { mode } });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['bash']);
  const notes: string[] = [];
  const result = await client.callTool(
    { name: 'bash', arguments: { command: 'echo one; sleep 0.3; echo two' } },
    { onprogress: ({ message = '' }) => notes.push(message) },
  );
  expect(answerOf(result)).toMatch(/^one\ntwo\n/);
  expect(toldOf(['one\n', 'two\n'])).toContainEqual(notes);
});

test('a client that insists on a revision without sessions is told which ones have them', async () => {
  const { url, token } = await serve();
  const versionNegotiation = { mode: { pin: '2026-07-28' } };
  await expect(clients.http(url, token, { versionNegotiation })).rejects.toThrow('2026-07-28');
});

test('a cancelled call ends its command, and the next one runs', async () => {
  const { url, token } = await serve();
  const client = await clients.http(url, token);
  const controller = new AbortController();
  const call = client.callTool(
    { name: 'bash', arguments: { command: longSleep(631) } },
    { signal: controller.signal },
  );
  await eventually(() => expect(sleeping(631)).toHaveLength(1));
  await client.ping();
  controller.abort();
  await expect(call).rejects.toThrow();
  await eventually(() => expect(sleeping(631)).toEqual([]));
  const next = await client.callTool({ name: 'bash', arguments: { command: 'echo next' } });
  expect(answerOf(next)).toContain('next');
});

test('the stream of a cancelled call is closed without a response', async () => {
  const service = await serve();
  const headers = await openSession(service);
  const answer = send(service, { headers, body: bash(2, longSleep(632)) });
  await eventually(() => expect(sleeping(632)).toHaveLength(1));
  const cancelled = rpc(undefined, 'notifications/cancelled', { requestId: 2 });
  expect((await send(service, { headers, body: cancelled })).status).toBe(202);
  expect(await answer).toMatchObject({ status: 200, body: '' });
  expect(sleeping(632)).toEqual([]);
});

test('a client that hangs up on a call ends its command', async () => {
  const service = await serve();
  const headers = await openSession(service);
  const controller = new AbortController();
  const { signal } = controller;
  const answer = send(service, { headers, body: bash(2, longSleep(633)), signal });
  await eventually(() => expect(sleeping(633)).toHaveLength(1));
  controller.abort();
  await expect(answer).rejects.toThrow();
  await eventually(() => expect(sleeping(633)).toEqual([]));
  // The session is none the worse for it.
  const next = await send(service, { headers, body: bash(3, 'echo next') });
  expect(next.body).toContain('next\\n');
});

test('DELETE ends the session and what it started, and its id is unknown then', async () => {
  const service = await serve();
  const headers = await openSession(service);
  await send(service, { headers, body: bash(2, `${longSleep(634)} &`) });
  expect(sleeping(634)).toHaveLength(1);
  expect((await send(service, { method: 'DELETE', headers })).status).toBe(200);
  await eventually(() => expect(sleeping(634)).toEqual([]));
  const after = await send(service, { headers, body: rpc(3, 'ping') });
  expect(after).toMatchObject({ status: 404 });
  expect(JSON.parse(after.body)).toMatchObject({ error: { code: -32001 } });
});

test('a client that is silent for too long is taken for gone', async () => {
  const service = await serve({ idleMs: 400 });
  const headers = await openSession(service);
  // A command that takes longer is no silence.
  const long = await send(service, { headers, body: bash(2, `${longSleep(635)} & sleep 1`) });
  expect(long.status).toBe(200);
  expect(sleeping(635)).toHaveLength(1);
  await eventually(() => expect(sleeping(635)).toEqual([]));
  expect((await send(service, { headers, body: rpc(3, 'ping') })).status).toBe(404);
});

test('a client whose stream of notifications breaks off is taken for gone sooner', async () => {
  const service = await serve({ lostMs: 300 });
  const headers = await openSession(service);
  await send(service, { headers, body: bash(2, `${longSleep(636)} &`) });
  const listening = start(service, { method: 'GET', headers });
  await new Promise((resolve) => listening.once('response', resolve));
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(sleeping(636)).toHaveLength(1);
  listening.on('error', () => {});
  listening.destroy();
  await eventually(() => expect(sleeping(636)).toEqual([]));
});

test('closing the service ends everything', async () => {
  const service = await serve();
  const headers = [await openSession(service), await openSession(service)];
  const calls = headers.map((each, index) =>
    send(service, { headers: each, body: bash(2, longSleep(637 + index)) }).catch(() => 'ended'),
  );
  await eventually(() => expect([...sleeping(637), ...sleeping(638)]).toHaveLength(2));
  await service.close();
  await service.closed;
  expect([...sleeping(637), ...sleeping(638)]).toEqual([]);
  await Promise.all(calls);
});

test('each client has a shell of its own: one does not wait for the other', async () => {
  const service = await serve();
  const slow = await openSession(service);
  const quick = await openSession(service);
  const controller = new AbortController();
  const { signal } = controller;
  const blocked = send(service, { headers: slow, body: bash(2, longSleep(639)), signal });
  await eventually(() => expect(sleeping(639)).toHaveLength(1));
  const answer = await send(service, { headers: quick, body: bash(2, 'echo quick') });
  expect(answer.body).toContain('quick\\n');
  controller.abort();
  await expect(blocked).rejects.toThrow();
});

test('a call that was answered is not cancelled afterwards: its processes may go on', async () => {
  let aborted = 0;
  const tool = toolOf('bash', async (_input, { signal }) => {
    signal?.addEventListener('abort', () => {
      aborted += 1;
    });
    return { content: [{ type: 'text', text: 'started' }] };
  });
  const service = await serve({}, () => tool);
  const headers = await openSession(service);
  const closing = { ...headers, Connection: 'close' };
  expect((await send(service, { headers: closing, body: bash(2, 'x') })).body).toContain('started');
  await send(service, { headers, body: rpc(3, 'ping') });
  expect(aborted).toBe(0);
});

test('C3: a client may be silent for longer than a timer of Node knows', async () => {
  const service = await serve({ idleMs: 30 * 24 * 3600 * 1000, lostMs: 2 ** 31 });
  const headers = await openSession(service);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await send(service, { headers, body: rpc(2, 'ping') })).status).toBe(200);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('full');
    },
  ],
  ['rejects', () => Promise.reject(new Error('full'))],
  [
    'throws what cannot be told',
    () => {
      throw Object.create(null);
    },
  ],
])('C6: a client whose tool cannot be made is told, although the logger %s', async (_, warn) => {
  const unhandled: unknown[] = [];
  const warned: string[] = [];
  const onUnhandled = (reason: unknown): number => unhandled.push(reason);
  const onWarning = ({ message }: Error): number => warned.push(message);
  process.on('unhandledRejection', onUnhandled);
  process.on('warning', onWarning);
  const service = await serve({ logger: { warn } }, () => {
    throw new Error('no tool today');
  });
  const { status, body } = await send(service, { body: initialize });
  expect({ status, body: JSON.parse(body) }).toEqual({
    status: 500,
    body: { jsonrpc: '2.0', error: { code: -32603, message: 'Internal server error' }, id: null },
  });
  await eventually(() => expect(warned.join()).toContain('its message was: no tool today'));
  process.off('unhandledRejection', onUnhandled);
  process.off('warning', onWarning);
  expect(unhandled).toEqual([]);
});
