import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { run, type SandboxPolicy } from '../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { printed } from '../../support/results.js';
import { freePort, serveHere } from './relay.js';

leavesNothingBehind(7);
const folder = useFolder();

/** A client that prints what it is told by a server, or the name of the error. */
const CLIENT = `
import errno, socket, sys
for at in sys.argv[1:]:
    host, port = at.rsplit(":", 1)
    try:
        s = socket.create_connection((host, int(port)), timeout=20)
        all = b""
        while part := s.recv(65536): all += part
        print(at, all.decode())
    except OSError as error:
        print(at, errno.errorcode.get(error.errno, error))
`;

const inSandbox = async (argv: readonly string[], sandbox: SandboxPolicy): Promise<string> =>
  printed(await run([...argv], { cwd: folder.path, sandbox, timeoutMs: 60_000 }));

test('a port of the host is reached by each name of the loopback, and by another port inside', async () => {
  const port = await serveHere((client) => client.end('from the host'));
  const other = await freePort();
  const sandbox = { ports: { reach: [port, { inside: other, host: port }] } };
  const names = ['127.0.0.1', '::1', 'localhost', '0.0.0.0'].map((name) => `${name}:${port}`);
  const asked = [...names, `127.0.0.1:${other}`];
  const said = await inSandbox(['python3', '-c', CLIENT, ...asked], sandbox);
  expect(said.trimEnd().split('\n')).toEqual(asked.map((at) => `${at} from the host`));
});

test('a server of the host that listens on ::1 alone is reached, too', async () => {
  const port = await serveHere((client) => client.end('by six'), '::1');
  const said = await inSandbox(['python3', '-c', CLIENT, `127.0.0.1:${port}`], {
    ports: { reach: [port] },
  });
  expect(said).toBe(`127.0.0.1:${port} by six\n`);
});

test('where no server listens outside, the connection is refused, also for who does not wait', async () => {
  const port = await freePort();
  const hasty = `
import errno, select, socket
s = socket.socket()
s.setblocking(False)
code = s.connect_ex(("127.0.0.1", ${port}))
if code == errno.EINPROGRESS:
    select.select([], [s], [])
    code = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
print(errno.errorcode[code])
`;
  const sandbox = { ports: { reach: [port] } };
  const said = await inSandbox(['python3', '-c', CLIENT, `127.0.0.1:${port}`], sandbox);
  expect(said).toBe(`127.0.0.1:${port} ECONNREFUSED\n`);
  expect(await inSandbox(['python3', '-c', hasty], sandbox)).toBe('ECONNREFUSED\n');
});

test('no other port and no other host is reached, whatever call is used', async () => {
  const listed = await serveHere((client) => client.end('listed'));
  let connections = 0;
  const port = await serveHere((client) => {
    connections += 1;
    client.end('not listed');
  });
  const attempts = `
import errno, os, socket
def attempt(name, act):
    try:
        act()
        print(name, "WENT")
    except OSError as error:
        print(name, errno.errorcode.get(error.errno, error))
def fast(to):
    s = socket.socket()
    s.settimeout(20)
    s.sendto(b"x", 0x20000000, to)
    if s.recv(100) != b"": raise OSError(errno.EISCONN, "answered")
    raise OSError(errno.ECONNRESET, "closed")
def again(to):
    s = socket.create_connection(("127.0.0.1", ${listed}), timeout=20)
    libc = __import__("ctypes").CDLL(None, use_errno=True)
    unspec = bytes(16)
    libc.connect(s.fileno(), unspec, 16)
    s.sendto(b"x", 0x20000000, to)
    s.recv(100)
    raise OSError(errno.EISCONN, "answered")
to = ("127.0.0.1", ${port})
attempt("plain", lambda: socket.create_connection(to, timeout=20))
attempt("six", lambda: socket.create_connection(("::1", ${port}), timeout=20))
attempt("fast", lambda: fast(to))
attempt("again", lambda: again(to))
attempt("metadata", lambda: socket.create_connection(("169.254.169.254", 80), timeout=20))
attempt("host", lambda: socket.create_connection(("192.0.2.1", ${listed}), timeout=20))
`;
  const said = await inSandbox(['python3', '-c', attempts], { ports: { reach: [listed] } });
  expect(said).not.toMatch(/WENT|EISCONN/);
  expect(said.trimEnd().split('\n').length).toBe(6);
  expect(connections).toBe(0);
});

test('a port that leads to the host is taken inside', async () => {
  const port = await serveHere((client) => client.end());
  const taking = `import socket; socket.create_server(("127.0.0.1", ${port}))`;
  const said = await inSandbox(['python3', '-c', taking], { ports: { reach: [port] } });
  expect(said).toMatch(/Address already in use/);
});

test('40 MB arrive whole after the other side has ended its own', async () => {
  const hash = createHash('sha256');
  let bytes = 0;
  const port = await serveHere((client) => {
    client.on('data', (part: Buffer) => {
      bytes += part.length;
      hash.update(part);
    });
    client.on('end', () => client.end(`${bytes} ${hash.digest('hex')}`));
  });
  const send = `
import hashlib, socket
s = socket.create_connection(("127.0.0.1", ${port}))
block = bytes(range(251)) * 4000
hash = hashlib.sha256()
for at in range(40):
    hash.update(block)
    s.sendall(block)
s.shutdown(socket.SHUT_WR)
answer = b""
while part := s.recv(4096): answer += part
print(answer.decode() == f"{40 * len(block)} {hash.hexdigest()}")
`;
  expect(await inSandbox(['python3', '-c', send], { ports: { reach: [port] } })).toBe('True\n');
});

test('a thousand connections at once are relayed', async () => {
  const port = await serveHere((client) => {
    client.on('data', (part: Buffer) => client.write(part));
    client.on('end', () => client.end());
  });
  const many = `
import socket
all = [socket.create_connection(("127.0.0.1", ${port})) for _ in range(1000)]
for number, s in enumerate(all): s.sendall(b"%06d" % number)
print(all and sum(s.recv(6, socket.MSG_WAITALL) == b"%06d" % number for number, s in enumerate(all)))
`;
  const limits = 'ulimit -n 4096 && exec python3 -c "$0"';
  const said = await inSandbox(['bash', '-c', limits, many], { ports: { reach: [port] } });
  expect(said).toBe('1000\n');
});
