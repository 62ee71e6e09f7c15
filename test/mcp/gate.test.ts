import { expect, test } from 'vitest';
import { useRawServers, useUnopenedServers } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

const start = useRawServers();
const startUnopened = useUnopenedServers();

const opening = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'raw', version: '1.0.0' },
});
const call = (id: number, command: string, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'bash', arguments: { command }, ...more },
});

test('F3: every message of a batch is answered', async () => {
  const server = startUnopened();
  const { result } = await server.request('initialize', opening('2025-03-26'));
  expect(result).toMatchObject({ protocolVersion: '2025-03-26' });
  const batch = [
    call(11, 'echo one'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    call(12, 'echo two'),
    { jsonrpc: '2.0', id: 13 },
    5,
  ];
  server.send(JSON.stringify(batch));
  for (const [id, text] of [
    [11, 'one'],
    [12, 'two'],
  ]) {
    const answer = await server.expect((message) => message.id === id);
    expect(JSON.stringify(answer.result)).toContain(text);
  }
  expect(await server.expect(({ id }) => id === 13)).toMatchObject({ error: { code: -32600 } });
  expect(await server.expect(({ id }) => id === null)).toMatchObject({ error: { code: -32600 } });
});

test('F3: an empty batch, and initialize in one, are refused', async () => {
  const server = startUnopened();
  server.send('[]');
  expect(await server.expect(({ id }) => id === null)).toMatchObject({ error: { code: -32600 } });
  const initialize = { jsonrpc: '2.0', id: 7, method: 'initialize', params: opening('2025-03-26') };
  server.send(JSON.stringify([initialize]));
  expect(await server.expect(({ id }) => id === 7)).toMatchObject({
    error: { code: -32600, message: 'Invalid request: initialize comes alone, not in a batch' },
  });
});

test('F4: a call before initialize runs nothing', async () => {
  const server = startUnopened();
  expect(await server.request('ping')).toMatchObject({ result: {} });
  for (const [method, params] of [
    ['tools/call', { name: 'bash', arguments: { command: 'echo ran' } }],
    ['tools/list', {}],
  ] as const) {
    expect(await server.request(method, params)).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('send initialize first') },
    });
  }
  expect(await server.request('initialize', opening('2025-11-25'))).toHaveProperty('result');
});

test.each([
  ['at first', startUnopened],
  ['after initialize', start],
])('F4: an unknown revision is refused %s', async (_, begin) => {
  const server = await begin();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2099-01-01',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const answer = await server.request('tools/call', { ...call(1, 'echo ran').params, _meta });
  expect(answer.result).toBeUndefined();
  expect(answer.error).toMatchObject({ message: expect.stringContaining('2099-01-01') });
});

test('F4: a message that breaks the protocol gets its error', async () => {
  const server = await start();
  const odd: readonly [object, number, string][] = [
    [{ id: 21, method: 'tools/list', params: { cursor: 'x' } }, -32602, 'cursor'],
    [call(22, 'echo ran', { _meta: { progressToken: 1.5 } }), -32602, 'progressToken'],
    [call(23, 'echo ran', { _meta: { progressToken: {} } }), -32602, 'progressToken'],
    [call(24, 'echo ran', { _meta: 5 }), -32602, '_meta'],
    [{ id: 25 }, -32600, 'method'],
    [{ id: 26, method: 5 }, -32600, 'method'],
    [{ id: 27, method: 'tools/list', params: [1] }, -32602, 'params'],
    [{ id: 28, method: 'ping', jsonrpc: '1.0' }, -32600, 'jsonrpc'],
  ];
  for (const [message, code, what] of odd) {
    const given = { jsonrpc: '2.0', ...message };
    server.send(given);
    const answer = await server.expect((each) => 'id' in given && each.id === given.id);
    expect(answer.error).toMatchObject({ code, message: expect.stringContaining(what) });
  }
  for (const id of [null, 1.5, true, {}]) {
    const before = server.lines.length;
    server.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }));
    await server.request('ping');
    expect(JSON.parse(server.lines[before] ?? '')).toMatchObject({
      id: null,
      error: { code: -32600 },
    });
  }
  expect(JSON.stringify(server.lines)).not.toContain('ran');
});

test('F5: a line that is no JSON is answered, and reported in one sentence', async () => {
  const server = await start();
  server.send('this is not JSON');
  expect(await server.expect(({ id }) => id === null)).toMatchObject({
    error: { code: -32700, message: 'Parse error: expected a line of JSON' },
  });
  server.send('');
  server.send('{"jsonrpc":"2.0","id":"x"}');
  server.send('null');
  await server.request('ping');
  const told = [
    'forkline: Parse error: expected a line of JSON, got "this is not JSON"',
    'forkline: Invalid request: method: expected a string, got {"jsonrpc":"2.0","id":"x"}',
    'forkline: Invalid request: expected an object, got null',
    '',
  ];
  await eventually(() => expect(server.stderr().split('\n')).toEqual(told));
});

test('F5: an odd notification is reported, and not answered', async () => {
  const server = await start();
  const before = server.lines.length;
  server.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}');
  await server.request('ping');
  expect(server.lines.slice(before)).toHaveLength(1);
  const told = 'forkline: Invalid params: params: expected an object, got {';
  await eventually(() => expect(server.stderr()).toContain(told));
});
