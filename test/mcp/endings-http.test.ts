import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { longSleep, sleeping } from '../support/commands.js';
import { answerOf, bearer, useClients } from '../support/mcp.js';
import { initialize, openSession, rpc, send, useServices } from '../support/mcp-http.js';
import { eventually } from '../support/processes.js';

const clients = useClients();
const serve = useServices();

test('F2: clients that came, called once and closed make room for others', async () => {
  const service = await serve({ maxSessions: 3 });
  for (let index = 0; index < 7; index += 1) {
    const transport = new StreamableHTTPClientTransport(new URL(service.url), {
      requestInit: { headers: bearer(service.token) },
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport);
    const result = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
    expect(answerOf(result)).toMatch(/^hi\n/);
    await client.close();
  }
});

test('F2: present clients keep their place, and a new one is told when to come again', async () => {
  const service = await serve({ maxSessions: 2, lostMs: 5000 });
  const client = await clients.http(service.url, service.token);
  const silent = await openSession(service);
  const { status, headers } = await send(service, { body: initialize });
  expect({ status, again: headers['retry-after'] }).toEqual({ status: 503, again: '5' });
  expect((await send(service, { headers: silent, body: rpc(3, 'ping') })).status).toBe(200);
  await expect(client.ping()).resolves.toEqual({});
});

test('F2: a client that was silent for long gives up its place when it is needed', async () => {
  const service = await serve({ maxSessions: 1, lostMs: 100 });
  const silent = await openSession(service);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await send(service, { body: initialize })).status).toBe(200);
  expect((await send(service, { headers: silent, body: rpc(3, 'ping') })).status).toBe(404);
});

test('F6: a server that ends answers the calls that are under way', async () => {
  const service = await serve();
  const client = await clients.http(service.url, service.token);
  const call = client.callTool({
    name: 'bash',
    arguments: { command: `echo begun; ${longSleep(651)}` },
  });
  const waiting = client.callTool({ name: 'bash', arguments: { command: 'echo next' } });
  await eventually(() => expect(sleeping(651)).toHaveLength(1));
  void service.close();
  for (const answer of [await call, await waiting]) expect(answer.isError).toBe(true);
  expect(answerOf(await call)).toContain('begun');
  await service.closed;
});
