import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp, get } from 'node:http';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { InputError } from '../../src/index.js';
import { type Connection, connect } from '../../src/remote/index.js';
import { useDisposal } from '../support/disposal.js';
import { FAR_BUILT, FAR_SIDE, STATIC_FAR } from '../support/far.js';
import { root } from '../support/house.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';
import { where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

// Ports of a far side from here, and back.

leavesNothingBehind();
const newFolder = useFolders();
const keep = useDisposal();
const connected = async (command: readonly string[] = FAR_SIDE): Promise<Connection> =>
  keep(await connect({ command }));

/** A server that is closed after the test. Returns its port. */
async function serving(talk: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, talk);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  keep({
    async dispose() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return (server.address() as AddressInfo).port;
}

/** Sends all, ends, and returns what comes until the other side ends. */
async function exchanged(port: number, sent: Uint8Array): Promise<Buffer> {
  const socket = connectSocket({ port, host: '127.0.0.1', allowHalfOpen: true });
  const pieces: Buffer[] = [];
  socket.on('data', (bytes) => pieces.push(bytes));
  socket.end(sent);
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(pieces);
}

const echo = (socket: Socket): void => void socket.pipe(socket);

/** 16 MiB of which no part is like another. */
function large(): Buffer {
  const bytes = Buffer.alloc(16 << 20);
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE((at * 2654435761) >>> 0, at);
  return bytes;
}

test('a server of the far side is reached from here, by many at once', async () => {
  const server = createHttp((request, response) => response.end(`you asked for ${request.url}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const far = await connected();
  const relayed = await far.ports.forward({ port: (server.address() as AddressInfo).port });
  const asked = Array.from({ length: 100 }, async (_, index) => {
    const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
      get({ port: relayed.port, path: `/${index}`, agent: false }, resolve).on('error', reject);
    });
    let text = '';
    for await (const bytes of response) text += bytes.toString();
    return text;
  });
  const expected = Array.from({ length: 100 }, (_, index) => `you asked for /${index}`);
  expect(await Promise.all(asked)).toEqual(expected);
  await eventually(() => expect(relayed.connections).toBe(0));
  await relayed.close();
  expect(await relayed.closed).toBe('it was closed');
  expect(await failureOf(exchanged(relayed.port, Buffer.alloc(1)))).toMatchObject({
    code: 'ECONNREFUSED',
  });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test.each(['forward', 'reverse'] as const)(
  '16 MiB go both ways at once, byte for byte, and each way ends by itself: %s',
  async (way) => {
    const port = await serving(echo);
    const far = await connected();
    const relayed = await far.ports[way]({ port });
    const bytes = large();
    expect((await exchanged(relayed.port, bytes)).equals(bytes)).toBe(true);
    await relayed.close();
  },
);

test('an end that comes before the answer does not cut the answer off', async () => {
  const port = await serving((socket) => {
    socket.resume();
    socket.on('end', () => setTimeout(() => socket.end('after all was read'), 50));
  });
  const far = await connected();
  const relayed = await far.ports.forward({ port });
  expect(String(await exchanged(relayed.port, Buffer.from('x')))).toBe('after all was read');
});

test('a reader that is slow holds up the sender, and not the memory', async () => {
  let sent = 0;
  const port = await serving((socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) sent += 65_536;
    };
    socket.on('drain', more);
    more();
  });
  const far = await connected();
  const relayed = await far.ports.forward({ port });
  const socket = connectSocket({ port: relayed.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.pause();
  let before = -1;
  await eventually(() => {
    const isStill = sent === before && sent > 0;
    before = sent;
    expect(isStill).toBe(true);
  });
  expect(sent).toBeLessThan(64 << 20);
  socket.destroy();
  await eventually(() => expect(relayed.connections).toBe(0));
});

test('where nothing listens, a connection is broken off', async () => {
  const port = await serving(() => {});
  const far = await connected();
  const relayed = await far.ports.forward({ port: 1 });
  expect(await failureOf(exchanged(relayed.port, Buffer.from('x')))).toMatchObject({
    code: 'ECONNRESET',
  });
  const back = await far.ports.reverse({ port: 1 });
  expect(await failureOf(exchanged(back.port, Buffer.from('x')))).toMatchObject({
    code: 'ECONNRESET',
  });
  const taken = await failureOf(far.ports.reverse({ port, listen: port }));
  expect(taken).toMatchObject({ message: expect.stringContaining('EADDRINUSE') });
});

test.each(['forward', 'reverse'] as const)(
  'more connections than there may be are broken off, and it goes on afterwards: %s',
  async (way) => {
    const port = await serving(echo);
    const far = await connected();
    const relayed = await far.ports[way]({ port });
    const sockets = Array.from({ length: 400 }, () => {
      const socket = connectSocket({ port: relayed.port, host: '127.0.0.1' });
      socket.on('error', () => {});
      return socket;
    });
    const isOver = ({ destroyed }: Socket): boolean => destroyed;
    await eventually(() => expect(sockets.filter(isOver).length).toBeGreaterThanOrEqual(140));
    expect(sockets.filter(isOver).length).toBeLessThan(300);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(relayed.connections).toBe(0));
    await eventually(async () =>
      expect(String(await exchanged(relayed.port, Buffer.from('again')))).toBe('again'),
    );
  },
);

test('with the line all of them end, and nothing listens any more', async () => {
  const port = await serving(() => {});
  const far = await connect({ command: FAR_SIDE });
  const [relayed, back] = [await far.ports.forward({ port }), await far.ports.reverse({ port })];
  const broken = [relayed, back].map(({ port: at }) => failureOf(exchanged(at, Buffer.from('x'))));
  await eventually(() => expect(relayed.connections + back.connections).toBe(2));
  await far.dispose();
  for (const error of await Promise.all(broken)) {
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  }
  for (const { closed, port: at } of [relayed, back]) {
    expect(await closed).not.toBe('');
    await eventually(async () =>
      expect(await failureOf(exchanged(at, Buffer.from('x')))).toMatchObject({
        code: 'ECONNREFUSED',
      }),
    );
  }
});

test('a far side that restricts its clients says which ports they may have', async () => {
  const [port, other] = [await serving(echo), await serving(echo)];
  const restricted = async (always: object): Promise<Connection> => {
    const file = join(newFolder(), 'profiles.mjs');
    writeFileSync(file, `export const always = ${JSON.stringify(always)};`);
    return connected([...FAR_SIDE, '--profiles', file]);
  };
  const sandbox = { mode: 'workspace-write' };
  const none = await restricted({ sandbox });
  const hidden = await failureOf(none.ports.forward({ port }));
  expect(hidden).toBeInstanceOf(InputError);
  expect((hidden as Error).message).toContain(`that the far side allows (none), got ${port}`);
  const refused = await failureOf(none.ports.reverse({ port }));
  expect(refused).toBeInstanceOf(InputError);
  expect((refused as Error).message).toContain(
    'that the far side allows (none), got 0 of 127.0.0.1',
  );
  const some = await restricted({ sandbox, ports: [port] });
  const allowed = await some.ports.forward({ port });
  expect(String(await exchanged(allowed.port, Buffer.from('x')))).toBe('x');
  for (const one of [{ port: other }, { port, host: '127.0.0.2' }]) {
    expect(await failureOf(some.ports.forward(one))).toBeInstanceOf(InputError);
  }
  const named = await some.ports.forward({ port, host: 'localhost' });
  expect(String(await exchanged(named.port, Buffer.from('x')))).toBe('x');
  expect(await failureOf(restricted({ ports: [0] }))).toMatchObject({
    message: expect.stringContaining('always.ports: expected true, false'),
  });
});

test.each([
  [{ port: 0 }, 'port: expected'],
  [{ port: 65_536 }, 'port: expected'],
  [{ port: 1, host: '' }, 'host: expected a name or an address'],
  [{ port: 1, listen: -1 }, 'listen: expected'],
  [{ port: 1, lisen: 1 }, 'lisen'],
])('%j is refused by name', async (options, message) => {
  const far = await connected();
  for (const way of ['forward', 'reverse'] as const) {
    const error = await failureOf(far.ports[way](options));
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toContain(message);
  }
});

test('a far side without Node has none, which is told at once', where(FAR_BUILT), async () => {
  const far = await connected([STATIC_FAR, 'serve', '--stdio']);
  expect(await failureOf(far.ports.forward({ port: 1 }))).toBeInstanceOf(InputError);
});

test('a process that has only ports goes on to its end, and one that awaits a close waits for it', async () => {
  const text = `
    import { connect } from ${JSON.stringify(join(root, 'dist/remote/index.js'))};
    const far = await connect({ command: ${JSON.stringify(FAR_SIDE)} });
    const relayed = [await far.ports.forward({ port: 1 }), await far.ports.reverse({ port: 1 })];
    for (const one of relayed) await one.close();
    console.log(relayed.map(({ connections }) => connections).join());
    await far.ports.forward({ port: 1 });
    await far.ports.reverse({ port: 1 });`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    text,
  ]);
  expect(stdout).toBe('0,0\n');
});
