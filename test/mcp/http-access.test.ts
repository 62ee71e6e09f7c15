import { expect, test } from 'vitest';
import { bearer, useClients } from '../support/mcp.js';
import { initialize, openSession, rpc, send, useServices } from '../support/mcp-http.js';

const clients = useClients();
const serve = useServices();

test('a token of 256 random bits is made when none is given', async () => {
  const [one, other] = [await serve(), await serve()];
  expect(Buffer.from(one.token, 'base64url')).toHaveLength(32);
  expect(one.token).not.toBe(other.token);
});

test('without the token no request is served, and the answer says what is needed', async () => {
  const service = await serve({ token: 'the-token' });
  const none = await send(service, { headers: { Authorization: '' }, body: initialize });
  expect(none).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="forkline"' },
  });
  for (const wrong of [bearer('the-toke'), bearer('the-token2'), { Authorization: 'Basic eDp5' }]) {
    const { status, headers } = await send(service, { headers: wrong, body: initialize });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Bearer /);
  }
  const right = await send(service, { headers: bearer('the-token'), body: initialize });
  expect(right.status).toBe(200);
});

test('an official client without the token fails to connect', async () => {
  const { url } = await serve();
  await expect(clients.http(url, undefined)).rejects.toThrow();
  await expect(clients.http(url, 'guessed')).rejects.toThrow();
});

test('only the loopback address listens', async () => {
  const { url } = await serve();
  expect(new URL(url).hostname).toBe('127.0.0.1');
});

test.each([
  [{ Host: 'evil.example' }, 403],
  [{ Host: 'evil.example:80' }, 403],
  [{ Host: '127.0.0.1.evil.example' }, 403],
  [{ Origin: 'https://evil.example' }, 403],
  [{ Origin: 'null' }, 403],
  [{ Host: 'localhost' }, 200],
  [{ Origin: 'http://localhost:3000' }, 200],
])('a request with %j gets %d, token or not', async (headers, status) => {
  const service = await serve();
  expect((await send(service, { headers, body: initialize })).status).toBe(status);
  if (status === 403) {
    const withoutToken = { ...headers, Authorization: '' };
    expect((await send(service, { headers: withoutToken, body: initialize })).status).toBe(403);
  }
});

test('other paths and methods are refused', async () => {
  const service = await serve();
  expect((await send(service, { path: '/', body: initialize })).status).toBe(404);
  expect((await send(service, { path: '/mcp/x', body: initialize })).status).toBe(404);
  const put = await send(service, { method: 'PUT', body: initialize });
  expect(put).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } });
});

test('a body that is no message is refused, and the server goes on', async () => {
  const service = await serve();
  const headers = await openSession(service);
  for (const body of ['', 'not JSON', '{"jsonrpc":"2.0"}', 'null', '[]', '[[[]]]', '"x"']) {
    const fresh = await send(service, { body });
    expect(fresh.status).toBeGreaterThanOrEqual(400);
    expect(fresh.status).toBeLessThan(500);
    const inSession = await send(service, { headers, body });
    expect(inSession.status).toBeLessThan(500);
  }
  const odd = await send(service, { headers: { ...headers, Accept: 'text/html' }, body: '{}' });
  expect(odd.status).toBe(406);
  expect((await send(service, { headers, body: rpc(2, 'ping') })).status).toBe(200);
});

test('a message that is too long is refused', async () => {
  const service = await serve({ maxMessageBytes: 10_000 });
  const body = rpc(1, 'ping', { padding: 'x'.repeat(3_000_000) });
  const answer = await send(service, { body });
  expect(answer).toMatchObject({ status: 413 });
  expect(answer.body).toContain('at most 10000 bytes');
});

test('a request without a session, or with a wrong one, is told so', async () => {
  const service = await serve();
  expect((await send(service, { body: rpc(1, 'tools/list') })).status).toBe(400);
  expect((await send(service, { method: 'GET' })).status).toBe(400);
  const headers = { 'Mcp-Session-Id': 'made-up' };
  expect((await send(service, { headers, body: rpc(1, 'tools/list') })).status).toBe(404);
});

test('there are as many sessions as may be, and an ended one makes room', async () => {
  const service = await serve({ maxSessions: 2 });
  const [first] = [await openSession(service), await openSession(service)];
  const third = await send(service, { body: initialize });
  expect(third.status).toBe(503);
  expect(third.body).toContain('there are 2 sessions');
  await send(service, { method: 'DELETE', ...(first && { headers: first }) });
  await expect.poll(async () => (await send(service, { body: initialize })).status).toBe(200);
});

test('an initialize that is refused takes no place', async () => {
  const service = await serve({ maxSessions: 1 });
  const headers = { Accept: 'text/html' };
  expect((await send(service, { headers, body: initialize })).status).toBe(406);
  expect((await send(service, { body: initialize })).status).toBe(200);
});

test.each([
  [{ port: 70_000 }, /^port: expected a whole number from 0 to 65535, got 70000/],
  [{ token: 'two words' }, /^token: expected visible ASCII/],
  [{ token: '' }, /^token: expected visible ASCII/],
])('options that are wrong are errors: %j', async (options, message) => {
  await expect(serve(options)).rejects.toThrow(message);
});
