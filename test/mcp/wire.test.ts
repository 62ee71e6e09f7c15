import { expect, test } from 'vitest';
import { longSleep, sleeping } from '../support/commands.js';
import { useRawServers } from '../support/mcp.js';
import { eventually } from '../support/processes.js';
import { fc } from '../support/properties.js';

const start = useRawServers();

test('I1: a cancelled call ends its command, gets no response, and delays nothing', async () => {
  const server = await start();
  const id = server.call(longSleep(601));
  await eventually(() => expect(sleeping(601)).toHaveLength(1));
  server.send({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: id, reason: 'enough' },
  });
  expect(await server.request('ping')).toMatchObject({ result: {} });
  await eventually(() => expect(sleeping(601)).toEqual([]));
  // The queue goes on, and whatever came for the cancelled call would have come before this.
  const next = server.call('echo next');
  await server.expect((message) => message.id === next);
  expect(server.lines.filter((line) => JSON.parse(line).id === id)).toEqual([]);
});

test('I1: a ping is answered while a command runs', async () => {
  const server = await start();
  server.call(longSleep(602));
  await eventually(() => expect(sleeping(602)).toHaveLength(1));
  const started = performance.now();
  await server.request('ping');
  expect(performance.now() - started).toBeLessThan(1000);
});

test('I2: without a progress token there is no notification', async () => {
  const server = await start();
  const id = server.call('for i in 1 2 3; do echo $i; sleep 0.2; done');
  await server.expect((message) => message.id === id);
  expect(server.lines.filter((line) => line.includes('notifications/'))).toEqual([]);
});

test('all progress comes before the response', async () => {
  const server = await start();
  const id = server.call('for i in $(seq 5); do echo line $i; sleep 0.06; done; echo end', {
    _meta: { progressToken: 'token' },
  });
  await server.expect((message) => message.id === id);
  await server.request('ping');
  const messages = server.lines.map((line) => JSON.parse(line));
  const response = messages.findIndex((message) => message.id === id);
  const progress = messages.flatMap(({ method, params }, index) =>
    method === 'notifications/progress' ? [{ index, ...params }] : [],
  );
  expect(progress.every(({ index }) => index < response)).toBe(true);
  expect(progress.every(({ progressToken }) => progressToken === 'token')).toBe(true);
  expect(progress.map(({ message }) => message).join('')).toBe(
    'line 1\nline 2\nline 3\nline 4\nline 5\nend\n',
  );
});

test('F5: a command that reads standard input gets none of the protocol', async () => {
  const server = await start();
  const id = server.call('cat; read x; echo rc=$?');
  server.send({ jsonrpc: '2.0', id: 'ping', method: 'ping' });
  await server.expect((message) => message.id === 'ping');
  const { result } = await server.expect((message) => message.id === id);
  expect(JSON.stringify(result)).toContain('"rc=1\\n');
});

test('a line that is no message is reported on standard error, and ends nothing', async () => {
  const server = await start();
  server.send('this is not JSON');
  server.send('{"jsonrpc":"2.0","id":"x"}');
  server.send('[]');
  server.send('null');
  server.send({ jsonrpc: '2.0', id: 'odd', method: 'tools/call', params: { name: 5 } });
  server.send({ jsonrpc: '2.0', id: 'none', method: 'no/such/method' });
  expect(await server.expect(({ id }) => id === 'odd')).toMatchObject({ error: { code: -32602 } });
  expect(await server.expect(({ id }) => id === 'none')).toMatchObject({ error: { code: -32601 } });
  expect(await server.request('ping')).toMatchObject({ result: {} });
  for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  await eventually(() => expect(server.stderr()).toContain('forkline: '));
});

test('no message, however odd, ends the server or gets anything but messages back', async () => {
  const server = await start();
  const method = fc.constantFrom(
    'tools/call',
    'tools/list',
    'initialize',
    'notifications/cancelled',
  );
  const request = fc.record(
    { jsonrpc: fc.constant('2.0'), id: fc.jsonValue(), method, params: fc.jsonValue() },
    { requiredKeys: ['jsonrpc', 'method'] },
  );
  const line = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')),
    request.map((message) => JSON.stringify(message)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      for (const each of lines) server.send(each);
      const id = `after ${server.lines.length} ${Math.random()}`;
      server.send({ jsonrpc: '2.0', id, method: 'ping' });
      expect(await server.expect((message) => message.id === id)).toMatchObject({ result: {} });
    }),
    { numRuns: 50 },
  );
  for (const each of server.lines) expect(JSON.parse(each)).toHaveProperty('jsonrpc', '2.0');
});

test('I5: output of every kind stays inside of the messages', async () => {
  const server = await start();
  const id = server.call(`printf '{"jsonrpc":"2.0"}\\n\\r\\0\\xff\\e[31m'; echo err >&2`, {
    _meta: { progressToken: 1 },
  });
  await server.expect((message) => message.id === id);
  for (const line of server.lines) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  expect(server.stderr()).toBe('');
});
