import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exchange } from '../../src/sandbox/proxy/exchange.js';
import { httpProxy } from '../../src/sandbox/proxy/http.js';
import { intercepting } from '../../src/sandbox/proxy/interception.js';
import { join } from '../../src/sandbox/proxy/joined.js';
import type { Tunnel } from '../../src/sandbox/proxy/tunnel.js';
import { leavesNothingBehind } from '../support/leftovers.js';

// An error in a listener of a socket, or in a promise without a handler, would end the host; here, the test run.
leavesNothingBehind();

let server: Server;
let opened: Socket[] = [];

/** Two ends of a connection: a command's, and the proxy's. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const far = await accepted;
  for (const socket of [near, far]) socket.on('error', () => {});
  opened.push(near, far);
  return [near, far];
}

beforeEach(async () => {
  server = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  for (const socket of opened) socket.destroy();
  opened = [];
  server.close();
});

const fail = (): never => {
  throw new Error('a fault of our own');
};
const reachable: Tunnel = async () => ({ kind: 'connected', socket: (await connection())[1] });
const closed = (socket: Socket) =>
  new Promise<string>((resolve) => socket.once('close', () => resolve('closed')).resume());

test('I4: a fault while the first data of a connection is judged closes that connection alone', async () => {
  const [command, one] = await connection();
  const [, other] = await connection();
  join(one, other, fail);
  const end = closed(command);
  command.write('hello');
  expect(await end).toBe('closed');
});

test('I4: a fault once a CONNECT has reached its host closes the connection of the command', async () => {
  const proxy = httpProxy(reachable, fail, () => undefined);
  const [command, accepted] = await connection();
  proxy.emit('connection', accepted);
  command.write('CONNECT host.example:443 HTTP/1.1\r\nHost: host.example\r\n\r\n');
  expect(await text(command)).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
});

test('I4: a fault while the certificate for a host is made closes the connection of the command', async () => {
  const secret = {
    name: 'TOKEN',
    value: 'v',
    standIn: 's',
    domains: ['host.example'],
    body: false,
  };
  const secrets = { all: [secret], variables: {}, directory: '/', certify: fail };
  const rules = { allowedDomains: ['host.example'], deniedDomains: [] };
  const others = { tunnel: reachable, reportDenial: () => {}, rules, join: fail };
  const handle = intercepting(secrets, others);
  const [command, accepted] = await connection();
  const [, upstream] = await connection();
  handle(accepted, upstream, 'host.example', 443);
  const end = closed(command);
  command.write(Buffer.from([0x16, 3, 1, 0, 0]));
  expect(await end).toBe('closed');
});

test('I4: a fault while an answer is looked at closes the connection of the command', async () => {
  const proxy = httpProxy(
    reachable,
    () => {},
    () => undefined,
  );
  proxy.removeAllListeners('request');
  proxy.on('request', async (asked: IncomingMessage, answer) => {
    const [page, by] = await connection();
    page.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    const onward = { authority: 'host.example', path: '/', headers: [], by, back: fail };
    exchange(asked, answer, onward);
  });
  const [command, accepted] = await connection();
  proxy.emit('connection', accepted);
  const end = closed(command);
  command.write('GET / HTTP/1.1\r\nHost: host.example\r\n\r\n');
  expect(await end).toBe('closed');
});
