import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { type LiveProcess, type SandboxPorts, spawn } from '../../../src/index.js';

/** A python program that greets each client on these addresses, and says so; it shares the port. */
export const GREETER = `
import socket, sys, threading
def serve(s):
    while True:
        c = s.accept()[0]
        c.sendall(b"hello from inside")
        c.close()
for at in sys.argv[2:]:
    s = socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if ":" in at: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind((at, int(sys.argv[1])))
    s.listen()
    threading.Thread(target=serve, args=(s,)).start()
print("listening", flush=True)
`;

const servers: Server[] = [];
const running: LiveProcess[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.kill({ graceMs: 0 })));
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server on the host's loopback, which gives each client to `serve`. Returns its port. */
export async function serveHere(serve: (client: Socket) => void, host?: string): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {});
    serve(client);
  });
  servers.push(server);
  server.listen(0, host ?? '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Starts a program in a sandbox with these ports, and waits until it has printed `word`. */
export async function startInside(
  command: string | readonly string[],
  cwd: string,
  ports: SandboxPorts,
  word = 'listening',
): Promise<LiveProcess> {
  const sandbox = { ports } as const;
  const argv = typeof command === 'string' ? command : [...command];
  const live = await spawn(argv, { cwd, sandbox, graceMs: 0 });
  running.push(live);
  let printed = '';
  for await (const { text } of live) {
    printed += text;
    if (printed.includes(word)) return live;
  }
  throw new Error(`it has ended: ${printed}`);
}

/** Returns what a server says to a new client; or the code of the error. */
export function answerOf(port: number, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(port, host);
    socket.on('data', (part) => parts.push(part));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    socket.on('close', () => resolve(Buffer.concat(parts).toString()));
  });
}

/** Waits until no server listens on a port, which is so some moments after it was closed inside. */
export async function untilRefused(port: number): Promise<void> {
  while ((await answerOf(port)) !== 'ECONNREFUSED') {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns a port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
