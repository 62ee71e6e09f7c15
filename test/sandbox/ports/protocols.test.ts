import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run, spawn } from '../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { installed, where } from '../../support/needs.js';
import { printed } from '../../support/results.js';
import { freePort, startInside } from './relay.js';

leavesNothingBehind(4);
const folder = useFolder();
const NODE = installed('node');

const insideTo = async (port: number, argv: readonly string[]): Promise<string> =>
  printed(await run([...argv], { cwd: folder.path, sandbox: { ports: { reach: [port] } } }));

/** Starts a server on the host, and waits until it has printed this. */
async function onHost(argv: readonly string[], word: string): Promise<AsyncDisposable> {
  const server = await spawn([...argv], { cwd: folder.path, graceMs: 0 });
  let text = '';
  for await (const chunk of server) {
    text += chunk.text;
    if (text.includes(word)) return server;
  }
  throw new Error(text);
}

test('redis on the host', where(installed('redis-server'), installed('redis-cli')), async () => {
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', ''];
  await using _ = await onHost(['redis-server', ...flags], 'Ready to accept');
  const text = `redis-cli -p ${port} set greeting hello; redis-cli -h localhost -p ${port} get greeting`;
  expect(await insideTo(port, ['bash', '-c', text])).toBe('OK\nhello\n');
});

/** A server of HTTP/2 that answers as gRPC does: a message, and its status in trailers. */
const GRPC = `
const http2 = require('node:http2');
const server = http2.createServer();
server.on('stream', (stream) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.on('data', (data) => stream.write(data));
  stream.on('end', () => stream.end());
});
server.listen(Number(process.argv[1]), '127.0.0.1', () => console.log('ready'));
`;
const GRPC_CLIENT = `
const http2 = require('node:http2');
const client = http2.connect('http://127.0.0.1:' + process.argv[1]);
const calls = Array.from({ length: 20 }, (_, number) => new Promise((resolve, reject) => {
  const stream = client.request({ ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc' });
  let text = '', status;
  stream.on('trailers', (trailers) => { status = trailers['grpc-status']; });
  stream.on('data', (data) => { text += data; });
  stream.on('end', () => resolve(text === 'message ' + number && status === '0'));
  stream.on('error', reject);
  stream.end('message ' + number);
}));
Promise.all(calls).then((all) => { console.log(all.every(Boolean)); client.close(); });
`;

test('gRPC by HTTP/2, many calls by one connection', where(NODE), async () => {
  const port = await freePort();
  await using _ = await onHost(['node', '-e', GRPC, String(port)], 'ready');
  expect(await insideTo(port, ['node', '-e', GRPC_CLIENT, String(port)])).toBe('true\n');
});

test('python -m http.server, published', where(installed('python3')), async () => {
  const port = await freePort();
  writeFileSync(folder.file('page.txt'), 'a page');
  const text = `exec python3 -u -m http.server ${port}`;
  const live = await startInside(text, folder.path, { publish: 'auto' }, 'Serving');
  const answer = await fetch(`http://127.0.0.1:${port}/page.txt`, {
    headers: { connection: 'close' },
  });
  expect(await answer.text()).toBe('a page');
  await live.kill({ graceMs: 0 });
});

test('vite, published, with its WebSocket', where(NODE), async () => {
  const port = await freePort();
  const site = folder.file('site');
  mkdirSync(site);
  writeFileSync(`${site}/index.html`, '<script type="module" src="/main.js"></script>');
  writeFileSync(`${site}/main.js`, 'export const answer = 42;');
  const vite = fileURLToPath(new URL('../../../node_modules/vite/bin/vite.js', import.meta.url));
  const argv = ['node', vite, '--port', String(port), '--strictPort', '--clearScreen', 'false'];
  const live = await startInside(argv, site, { publish: 'auto' }, 'ready in');
  const page = await (await fetch(`http://localhost:${port}/`)).text();
  expect(page).toContain('/@vite/client');
  const client = await (await fetch(`http://localhost:${port}/@vite/client`)).text();
  const [, token] = /wsToken = "([^"]+)"/.exec(client) ?? [];
  const upgrade = [
    `GET /?token=${token} HTTP/1.1`,
    `Host: localhost:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: vite-hmr',
  ];
  const socket = connect(port, '127.0.0.1');
  socket.write(`${upgrade.join('\r\n')}\r\n\r\n`);
  let said = '';
  for await (const part of socket) {
    said += part;
    if (said.includes('{"type":"connected"}')) break;
  }
  expect(said).toMatch(/^HTTP\/1\.1 101 /);
  await live.kill({ graceMs: 0 });
});
