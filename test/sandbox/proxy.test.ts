import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHost, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { makeScene, people, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** What the server was asked, a line each; and somebody who answers by bytes of his own. */
const asked: string[] = [];
let server: HttpServer;
let rude: Server;
const portOf = (of: Server | HttpServer) => (of.address() as AddressInfo).port;
const listening = (of: Server | HttpServer) =>
  new Promise<void>((resolve) => of.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  server = createHttpServer((request, answer) => {
    const { method, url, headers } = request;
    asked.push(`${method} ${url} ${headers.host}`);
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => answer.end(JSON.stringify({ headers, body })));
  });
  rude = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('end', () => socket.end('the end has come'));
    socket.once('data', (data) => {
      const [, words = ''] = /GET \/([^ ]*)/.exec(data.toString()) ?? [];
      if (words === 'reset') socket.resetAndDestroy();
      else if (words === 'status') socket.end('HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n');
      else if (words === 'upgrade') {
        socket.write('HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
      } else if (words === 'cut') {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
        setTimeout(() => socket.resetAndDestroy(), 50);
      } else socket.end('no HTTP at all');
    });
  });
  await Promise.all([listening(server), listening(rude)]);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rude.close();
});

/** A program that says bytes to the proxy, and prints what it answers; several times, if it is told. */
const SAY = `
import socket, sys
def say(data, shut=False):
    s = socket.create_connection(('127.0.0.1', 3128))
    s.sendall(data)
    if shut: s.shutdown(socket.SHUT_WR)
    s.settimeout(5)
    got = b''
    try:
        while True:
            part = s.recv(65536)
            if not part: break
            got += part
    except (ConnectionResetError, TimeoutError): pass
    return got.decode('latin1')
`;

// The proxy is the host's: whoever asks is the same to it.
describe.each(people.slice(-1))('%s', (person) => {
  const ask = (command: string, allowedDomains: readonly string[] = ['localhost']) => {
    const scene = makeScene(scenes.path, person);
    const network = { allowedDomains };
    return runAs(person, scene, command, { cwd: scene.work, sandbox: { network } });
  };
  const python = (program: string, allowed?: readonly string[]) =>
    ask(`/usr/bin/python3 - <<'PROGRAM'\n${SAY}\n${program}\nPROGRAM`, allowed);
  const say = (bytes: string, more = '') =>
    python(`print(say(${JSON.stringify(bytes)}.encode('latin1')${more}))`);

  test('a request goes to the host of its URL, whatever its header says', async () => {
    const { text } = await ask(
      `curl -sS --noproxy '' -H 'Host: other.example' http://localhost:${portOf(server)}/fronted`,
    );
    expect(text).toContain(`"host":"localhost:${portOf(server)}"`);
    expect(asked).toContain(`GET /fronted localhost:${portOf(server)}`);
  });

  test('headers for the proxy only are not forwarded, by their names and by Connection', async () => {
    const { text } = await ask(
      `curl -sS --noproxy '' -H 'Connection: X-One' -H 'X-One: 1' -H 'X-Two: 2' ` +
        `-H 'Proxy-Authorization: Basic eA==' http://localhost:${portOf(server)}/`,
    );
    expect(text).toContain('"x-two":"2"');
    expect(text).not.toMatch(/x-one|proxy-authorization/i);
  });

  test.each([
    ['a body', `-d 'a=b'`, 'a=b'],
    ['a body in parts', `-H 'Transfer-Encoding: chunked' -d 'a=b'`, 'a=b'],
    ['a body of a DELETE in parts', `-X DELETE -H 'Transfer-Encoding: chunked' -d 'a=b'`, 'a=b'],
    ['a POST without one', '-X POST', ''],
    [
      'a long body, which waits to be asked for',
      `-d @<(head -c 3000000 /dev/zero | tr '\\0' x)`,
      'x',
    ],
  ])('%s arrives', async (_, options, expected) => {
    const url = `http://localhost:${portOf(server)}/`;
    const { text } = await ask(`curl -sS --noproxy '' ${options} ${url} | tail -c 200`);
    expect(text).toContain(`${expected}"}`);
  });

  test.each([
    [
      'two lengths',
      'POST http://localhost:PORT/no HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET',
    ],
    [
      'two different lengths',
      'POST http://localhost:PORT/no HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n12345',
    ],
    [
      'a folded header',
      'GET http://localhost:PORT/no HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a space before a colon',
      'POST http://localhost:PORT/no HTTP/1.1\r\nHost: a\r\nContent-Length : 4\r\n\r\n1234',
    ],
    [
      'bare newlines in a chunk',
      'POST http://localhost:PORT/no HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n',
    ],
    ['no URL', 'GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n'],
    ['another scheme', 'GET ftp://localhost:PORT/no HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no HTTP at all', '\x04\x01 hello\r\n\r\n'],
  ])('a request with %s is refused, and reaches no server', async (_, bytes) => {
    const { text } = await say(bytes.replaceAll('PORT', String(portOf(server))));
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked.filter((one) => one.includes('/no'))).toEqual([]);
  });

  test.each([
    ['a port that is none', 'CONNECT localhost:70000 HTTP/1.1\r\n\r\n', '502'],
    ['port 0', 'CONNECT localhost:0 HTTP/1.1\r\n\r\n', '502'],
    ['no port', 'CONNECT localhost HTTP/1.1\r\n\r\n', '502'],
    ['a name and another behind it', 'CONNECT localhost@example.com:80 HTTP/1.1\r\n\r\n', '502'],
    ['an address by a number', 'CONNECT 2130706433:80 HTTP/1.1\r\n\r\n', '403'],
    ['an address in version 6', 'CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\r\n\r\n', '403'],
    [
      'a user before the host',
      'GET http://localhost@example.com/ HTTP/1.1\r\nHost: a\r\n\r\n',
      '403',
    ],
  ])('%s is refused, and the host lives', async (_, bytes, code) => {
    const { text } = await say(bytes);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `));
  });

  test('a name that leads to the host itself is denied, though it is allowed', async () => {
    const { text, result } = await ask(
      `curl -sS --noproxy '' http://${hostname()}:${portOf(server)}/own`,
      [hostname()],
    );
    expect(text).not.toContain('headers');
    // A machine that does not know its own name has nothing that it could lead to.
    if (!text.includes("can't be reached")) {
      expect(result.sandbox?.denials).toMatchObject([{ target: hostname(), source: 'proxy' }]);
    }
    expect(asked.filter((one) => one.includes('/own'))).toEqual([]);
  });

  test('an allowed host without a server is not reported as denied', async () => {
    const { text, result } = await ask(`curl -sS --noproxy '' http://localhost:1/`);
    expect(text).toBe("localhost can't be reached\n");
    expect(result.sandbox?.denials).toEqual([]);
  });

  test.each(['reset', 'status', 'upgrade', 'words'])(
    'a server with a wrong answer (%s) fails its request, and nothing else',
    async (how) => {
      const { text } = await ask(
        `curl -sS --noproxy '' -m 20 http://localhost:${portOf(rude)}/${how} 2>&1; ` +
          `curl -sS --noproxy '' http://localhost:${portOf(server)}/after`,
      );
      expect(text).toMatch(/has broken off|curl: \(\d+\)/);
      expect(text).toContain('"headers"');
    },
  );

  test('an answer that is cut off is not completed', async () => {
    const { text } = await ask(
      `curl -sS --noproxy '' http://localhost:${portOf(rude)}/cut 2>&1; echo "code $?"`,
    );
    expect(text).toMatch(/half.*code (18|56)\n$/s);
  });

  test('clients that reset their connections at any moment do no harm', async () => {
    const { text } = await python(
      `
import struct
def leave(data):
    s = socket.create_connection(('127.0.0.1', 3128))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    if data: s.sendall(data)
    s.close()
connect = b'CONNECT localhost:${portOf(server)} HTTP/1.1\\r\\n\\r\\n'
for data in [b'', b'G', b'\\x05', b'\\x05\\x01\\x00\\x05\\x01\\x00\\x03', connect, connect + b'GET / HTTP',
             b'POST http://localhost:${portOf(server)}/ HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 9\\r\\n\\r\\nhalf']:
    for _ in range(20): leave(data)
print(say(b'GET http://localhost:${portOf(server)}/ HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n'))
`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a client that has half-closed its connection is still answered', async () => {
    const { text } = await python(
      `print(say(b'CONNECT localhost:${portOf(rude)} HTTP/1.1\\r\\n\\r\\n', shut=True))`,
    );
    expect(text).toMatch(/established\r?\n\r?\nthe end has come/);
  });

  test(
    'many connections at once are served, and too many refused',
    where(descriptors(4096)),
    async () => {
      const { text } = await python(
        `
held = [socket.create_connection(('127.0.0.1', 3128)) for _ in range(300)]
closed = 0
for s in held:
    s.settimeout(0.05)
    try: closed += s.recv(1) == b''
    except ConnectionResetError: closed += 1
    except TimeoutError: pass
for s in held: s.close()
import time
time.sleep(0.2)
print(closed, say(b'GET http://localhost:${portOf(server)}/ HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n')[:15])
`,
      );
      expect(text).toMatch(/^44 HTTP\/1\.1 200 /);
    },
  );

  test.each([
    ['no method that is served', '\x05\x01\x02', '\x05\xff'],
    [
      'a wish to listen',
      '\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50',
      '\x05\x00\x05\x07',
    ],
    ['an unknown kind of address', '\x05\x01\x00\x05\x01\x00\x09', '\x05\x00\x05\x08'],
    [
      'a host that is denied',
      '\x05\x01\x00\x05\x01\x00\x01\x01\x01\x01\x01\x00\x50',
      '\x05\x00\x05\x02',
    ],
    ['port 0', '\x05\x01\x00\x05\x01\x00\x03\x09localhost\x00\x00', '\x05\x00\x05\x04'],
  ])('a client of SOCKS with %s is told so', async (_, bytes, expected) => {
    const list = [...Buffer.from(bytes, 'latin1')].join(',');
    const { text } = await python(`print(list(say(bytes([${list}])).encode('latin1')))`);
    const codes = [...Buffer.from(expected, 'latin1')].join(', ');
    expect(text).toContain(`[${codes}`);
  });
});

test('a sandbox that was replaced by another one is no longer served', async () => {
  const { work } = makeScene(scenes.path, people[0]);
  const [before, after] = await runHost<number[]>('many-sandboxes', { args: [work] });
  expect(after).toBe(before);
});

test('with too few file descriptors a sandbox without a proxy is refused, and the host lives', async () => {
  const { work: cwd } = makeScene(scenes.path, people[0]);
  const sandbox = { network: { allowedDomains: ['one.example'] } };
  const ask = 'curl -sS -o /dev/null -w "%{http_code}" http://one.example/';
  for (let limit = 30; limit <= 44; limit += 2) {
    const under = ['prlimit', `--nofile=${limit}`];
    const host = startHost('commands', { under, stdio: ['pipe', 'pipe', 'ignore'] });
    const { result, error } = await host.run(ask, { cwd, sandbox });
    if (result === undefined) {
      expect(error).toMatchObject({ name: 'LaunchError' });
      expect(error?.code).toMatch(/^(?:EMFILE|ECONNREFUSED)$/);
    } else {
      // The proxy says that the name is nobody's.
      expect(result.sandbox?.enforced.network).toBe('proxy');
      expect('output' in result && result.output).toMatchObject({ text: '502' });
    }
    host.child.stdin?.end();
    expect(await host.ended).toEqual({ code: 0, signal: null });
  }
});
