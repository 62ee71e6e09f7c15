import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { connect, createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readFirstData } from '../../src/sandbox/proxy/client-hello.js';
import { Authority } from '../../src/sandbox/secrets/authority.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { fc } from '../support/properties.js';
import { makeScene, people, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const list = (bytes: Buffer) => Buffer.concat([u16(bytes.length), bytes]);
/** Into pieces that end at these places, some of which may be empty. */
const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (one, other) => one - other,
  );
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};
const record = (payload: Buffer, type = 0x16) =>
  Buffer.concat([Buffer.from([type, 3, 1]), list(payload)]);
const extension = (type: number, body: Buffer) => Buffer.concat([u16(type), list(body)]);
const serverName = (...names: string[]) =>
  extension(
    0,
    list(Buffer.concat(names.flatMap((name) => [Buffer.from([0]), list(Buffer.from(name))]))),
  );
const hello = (extensions: Buffer | undefined) => {
  const ciphers = list(Buffer.from([0x0a, 0x0a, 0x13, 0x01]));
  const fixed = [Buffer.alloc(34, 3), Buffer.from([1, 9]), ciphers, Buffer.from([1, 0])];
  const body = Buffer.concat([...fixed, ...(extensions === undefined ? [] : [list(extensions)])]);
  return Buffer.concat([Buffer.from([1, 0]), list(body)]);
};

describe('the beginning of TLS', () => {
  const names = fc.stringMatching(/^[a-z\d.-]{1,60}$/);
  /** Of other kinds: what is sent to see that it is passed over (GREASE), ECH, and more. */
  const others = fc
    .tuple(fc.constantFrom(0x0a0a, 0xfafa, 0xfe0d, 16, 43, 51), fc.uint8Array({ maxLength: 80 }))
    .map(([type, body]) => extension(type, Buffer.from(body)));

  test('has the name, wherever it is divided and whatever is beside it', () => {
    fc.assert(
      fc.property(
        names,
        fc.array(others, { maxLength: 5 }),
        fc.array(others, { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.uint8Array({ maxLength: 9 }),
        (name, before, after, places, behind) => {
          const message = hello(Buffer.concat([...before, serverName(name), ...after]));
          const records = cut(message, places).map((part) => record(part));
          const whole = Buffer.concat([...records, behind]);
          expect(readFirstData(whole)).toEqual({ kind: 'hello', names: [name] });
          const until = Buffer.concat(records).length;
          for (let length = 1; length < until; length += 7) {
            const { kind } = readFirstData(whole.subarray(0, length));
            // Records without anything in them may follow the last of it.
            if (kind !== 'hello') expect(kind).toBe('more');
          }
        },
      ),
    );
  });

  test('is judged as more, other, broken or hello, whatever the data is', () => {
    const begun = fc
      .uint8Array({ maxLength: 300 })
      .map((rest) => Buffer.from([0x16, 3, 1, 0, 90, 1, 0, 0, 86, ...rest]));
    const anything = fc.oneof(fc.uint8Array().map(Buffer.from), begun);
    fc.assert(
      fc.property(anything, (bytes) => {
        expect(['more', 'other', 'broken', 'hello']).toContain(readFirstData(bytes).kind);
      }),
    );
  });

  test.each<[string, Buffer, object]>([
    ['no extensions', record(hello(undefined)), { kind: 'hello', names: [] }],
    ['no name', record(hello(Buffer.alloc(0))), { kind: 'hello', names: [] }],
    ['two names', record(hello(serverName('a', 'b'))), { kind: 'hello', names: ['a', 'b'] }],
    [
      'names twice',
      record(hello(Buffer.concat([serverName('a'), serverName('b')]))),
      { kind: 'hello', names: ['a', 'b'] },
    ],
    [
      'a warning before it',
      Buffer.concat([record(Buffer.from([1, 90]), 0x15), record(hello(serverName('a')))]),
      { kind: 'hello', names: ['a'] },
    ],
    ['an empty name', record(hello(serverName(''))), { kind: 'broken' }],
    ['a name that is cut', record(hello(extension(0, u16(9)))), { kind: 'broken' }],
    ['a list that is cut', record(hello(Buffer.from([0, 0, 0, 9]))), { kind: 'broken' }],
    ['no more than a warning', record(Buffer.from([1, 90]), 0x15), { kind: 'more' }],
    ['another message', record(Buffer.from([2, 0, 0, 0])), { kind: 'other' }],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n'), { kind: 'other' }],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH'), { kind: 'other' }],
    [
      'HTTP behind a warning',
      Buffer.concat([record(Buffer.from([1, 90]), 0x15), Buffer.from('GET /')]),
      { kind: 'broken' },
    ],
    ['more than any has', record(Buffer.from([1, 1, 0, 0])), { kind: 'broken' }],
    [
      'more records than any has',
      Buffer.concat(Array.from({ length: 100 }, () => record(Buffer.alloc(0)))),
      { kind: 'broken' },
    ],
  ])('with %s is read', (_, bytes, expected) => {
    expect(readFirstData(bytes)).toEqual(expected);
  });

  test('of Node itself is read', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', servername: 'some.example' });
    client.on('error', () => {});
    const [socket] = await once(server, 'connection');
    const [said] = await once(socket, 'data');
    client.destroy();
    socket.destroy();
    server.close();
    await once(server, 'close');
    expect(readFirstData(said)).toEqual({ kind: 'hello', names: ['some.example'] });
  });
});

/** The names that were asked for in a handshake. */
const asked: (string | false | null)[] = [];
let server: Server;
const port = () => (server.address() as AddressInfo).port;
beforeAll(async () => {
  server = createServer(new Authority().certify('localhost'), (socket) => {
    asked.push(socket.servername);
    socket.on('error', () => {}).resume();
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
  });
  server.on('tlsClientError', (_, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  asked.length = 0;
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
});

/** Says TLS to the proxy, by the first bytes one at a time and in a record each. */
const PIECES = `
import socket, ssl, sys
s = socket.create_connection(('127.0.0.1', 3128))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.sendall(b'CONNECT localhost:%s HTTP/1.1\\r\\n\\r\\n' % sys.argv[1].encode())
s.recv(4096)
context = ssl._create_unverified_context()
come, go = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(come, go, server_hostname=sys.argv[2])
try: tls.do_handshake()
except ssl.SSLWantReadError: pass
first = go.read()
message, size = first[5:], len(first) // 20
for at in range(0, len(message), size):
    part = message[at:at + size]
    for byte in first[:3] + len(part).to_bytes(2, 'big') + part: s.sendall(bytes([byte]))
while True:
    data = s.recv(65536)
    come.write(data) if data else come.write_eof()
    try: tls.do_handshake()
    except ssl.SSLWantReadError: s.sendall(go.read()); continue
    except ssl.SSLError as error: print(error); break
    s.sendall(go.read()); print('shaken'); break
`;

// The proxy is the host's: whoever asks is the same to it.
describe.each(people.slice(-1))('%s', (person) => {
  const ask = (command: string, policy: object) => {
    const scene = makeScene(scenes.path, person);
    return runAs(person, scene, command, { cwd: scene.work, sandbox: policy });
  };
  const only = (...allowedDomains: string[]) => ({ network: { allowedDomains } });
  const denial = (target: string, rule = 'allowedDomains') => [
    { kind: 'connect', target, rule, source: 'proxy' },
  ];
  const fronted = (host: string, more = '') =>
    `curl -sSk --noproxy '' ${more} --connect-to ${host}:443:localhost:${port()} https://${host}/ 2>&1`;
  const secrets = { TOKEN: { value: 'the-value-itself', domains: ['secret.example'] } };

  test.each<[string, string, object]>([
    ['by CONNECT', '', only('localhost')],
    ['by SOCKS', '-x "$ALL_PROXY"', only('localhost')],
    ['beside secrets', '', { ...only('localhost'), secrets }],
    ['in TLS 1.2', '--tls-max 1.2', only('localhost')],
  ])('TLS that asks an allowed host for another name is denied, %s', async (_, more, policy) => {
    const { text, result } = await ask(fronted('other.example', more), policy);
    expect(text).toMatch(/unrecognized name/);
    expect(result.sandbox?.denials).toEqual(denial('other.example'));
    expect(asked).toEqual([]);
  });

  test('a denied name below an allowed one is denied, too', async () => {
    const network = {
      allowedDomains: ['localhost', '*.example'],
      deniedDomains: ['other.example'],
    };
    const { result } = await ask(`${fronted('other.example')}; ${fronted('one.example')}`, {
      network,
    });
    expect(result.sandbox?.denials).toEqual(denial('other.example', 'deniedDomains'));
    expect(asked).toEqual(['one.example']);
  });

  test("TLS without a name, or with the host's, passes", async () => {
    const url = (host: string) => `curl -sSk --noproxy '' https://${host}:${port()}/`;
    const { text, result } = await ask(
      `${url('localhost')} && ${url('127.0.0.1')}`,
      only('localhost', '127.0.0.1'),
    );
    expect(text).toBe('hellohello');
    expect(result.sandbox?.denials).toEqual([]);
    expect(asked).toEqual(['localhost', false]);
  });

  test('data of a server that sends first arrives, and is answered', async () => {
    const greeter = createTcpServer((socket) => {
      socket.on('error', () => {}).write('who is it?\n');
      socket.pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(greeter, 'listening');
    const to = `localhost:${(greeter.address() as AddressInfo).port}`;
    const { text } = await ask(
      `/usr/bin/python3 - <<'PROGRAM'
import socket
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT ${to} HTTP/1.1\\r\\n\\r\\n')
lines = s.makefile()
while lines.readline().strip(): pass
print(lines.readline(), end='')
s.sendall(b'me\\n')
print(lines.readline(), end='')
PROGRAM`,
      only('localhost'),
    );
    greeter.close();
    await once(greeter, 'close');
    expect(text).toBe('who is it?\nme\n');
  });

  test.each([
    ['other.example', /UNRECOGNIZED_NAME|unrecognized name/, denial('other.example')],
    ['LOCALHOST', /^shaken/, []],
  ])('a name in pieces is read: %s', async (name, expected, denials) => {
    const command = `/usr/bin/python3 - ${port()} ${name} <<'PROGRAM'\n${PIECES}\nPROGRAM`;
    const { text, result } = await ask(command, only('localhost'));
    expect(text).toMatch(expected);
    expect(result.sandbox?.denials).toEqual(denials);
  });
});
