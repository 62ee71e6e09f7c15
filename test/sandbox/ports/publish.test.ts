import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { receiptOf, run, TaskManager } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';
import { answerOf, freePort, GREETER, startInside, untilRefused } from './relay.js';

leavesNothingBehind(7);
const folder = useFolder();
const newSession = useSessionTools(folder);

const greeter = (port: number, ...addresses: string[]): readonly string[] => [
  'python3',
  '-c',
  GREETER,
  String(port),
  ...(addresses.length > 0 ? addresses : ['127.0.0.1']),
];
const auto = { publish: 'auto' } as const;
const HELLO = 'hello from inside';

test.each([
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
  ['all addresses', ['0.0.0.0']],
  ['both', ['127.0.0.1', '::1']],
])(
  'what listens on %s inside is reached by both loopbacks outside, until it ends',
  async (_, addresses) => {
    const port = await freePort();
    const live = await startInside(greeter(port, ...addresses), folder.path, auto);
    expect(await Promise.all([answerOf(port), answerOf(port, '::1')])).toEqual([HELLO, HELLO]);
    const { sandbox } = await live.kill({ graceMs: 0 });
    await untilRefused(port);
    expect(sandbox).not.toHaveProperty('ports');
    expect(Object.keys(sandbox?.enforced ?? {})).not.toContain('port');
  },
);

test('a server that a command leaves behind is in its result and receipt with the way to it', async () => {
  const port = await freePort();
  const text = `${greeter(port).map(quote).join(' ')} >out 2>&1 & until grep -q listening out; do :; done`;
  const result = await run(text, { cwd: folder.path, sandbox: { ports: auto } });
  const { background, sandbox } = await receiptOf(result);
  const [left] = background;
  const url = `http://127.0.0.1:${port}`;
  expect(sandbox?.ports).toEqual([{ inside: port, url, by: `pid ${left?.pid} python3` }]);
  expect(left?.ports).toMatchObject([{ port, otherNetwork: true, url }]);
  expect(await answerOf(port)).toBe(HELLO);
  for (const { pid } of background) process.kill(pid, 'SIGKILL');
  await untilRefused(port);
});

test('a port that is taken outside gives way to the next, and two sandboxes have one each', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const manager = new TaskManager();
  try {
    const other = folder.file('other');
    await run(['mkdir', other]);
    const ways = [folder.path, other].map(async (cwd) => {
      const command = greeter(port).map(quote).join(' ');
      const task = await manager.start(command, { cwd, sandbox: { ports: auto }, graceMs: 0 });
      const awaited = await task.wait({ port });
      return awaited.kind === 'listening' ? awaited.url : undefined;
    });
    const urls = await Promise.all(ways);
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) {
      const { port: outside } = new URL(String(url));
      expect(Number(outside)).toBeGreaterThan(port);
      expect(await answerOf(Number(outside))).toBe(HELLO);
    }
  } finally {
    await Promise.all(manager.list().map((task) => task.stop()));
    taken.close();
  }
});

test('a server that starts again has the same port', async () => {
  const port = await freePort();
  const again = `
import socket
for turn in range(20):
    s = socket.create_server(("127.0.0.1", ${port}))
    s.close()
s = socket.create_server(("127.0.0.1", ${port}))
print("listening", flush=True)
while True: s.accept()[0].send(b"${HELLO}")
`;
  await startInside(['python3', '-c', again], folder.path, auto);
  expect(await answerOf(port)).toMatch(HELLO);
});

test('a list publishes these ports alone, by those of the host that it names', async () => {
  const [listed, host, other] = [await freePort(), await freePort(), await freePort()];
  const both = `${greeter(other).map(quote).join(' ')} & exec ${greeter(listed).map(quote).join(' ')}`;
  const publish = [{ inside: listed, host }];
  const live = await startInside(both, folder.path, { publish }, 'listening\nlistening');
  expect(await answerOf(host)).toBe(HELLO);
  expect(await answerOf(other)).toBe('ECONNREFUSED');
  expect(await answerOf(listed)).toBe('ECONNREFUSED');
  await live.kill({ graceMs: 0 });
});

test('a debugger is not published unless the policy says so, and the text says why', async () => {
  const tool = newSession({ sandbox: { ports: auto } });
  const command = `${greeter(9229).map(quote).join(' ')} >out 2>&1 & until grep -q listening out; do sleep 0.05; done`;
  const answer = await tool.execute({ command });
  expect(answer.details.receipt?.sandbox?.ports).toMatchObject([
    { inside: 9229, refused: 'dangerous' },
  ]);
  expect(textOf(answer)).toContain(
    'Port 9229 is not reached from outside the sandbox: whoever connects to such a port could run programs.',
  );
  for (const { pid } of answer.details.receipt?.background ?? []) process.kill(pid, 'SIGKILL');
});

test('a debugger that has closed its port is not told of, and hides no other port', async () => {
  const port = await freePort();
  const debuggers = `
import os, socket, time
for turn in range(300):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 9222)); s.listen(); s.listen(); s.close()
time.sleep(3)
s = socket.create_server(("127.0.0.1", ${port}))
open("ready", "w").close()
time.sleep(50)
`;
  const tool = newSession({ sandbox: { ports: auto } });
  const command = `python3 -c ${quote(debuggers)} & until test -e ready; do sleep 0.05; done`;
  const { details } = await tool.execute({ command });
  const { ports } = details.receipt?.sandbox ?? {};
  expect(ports?.map(({ inside }) => inside)).toEqual([port]);
  for (const { pid } of details.receipt?.background ?? []) process.kill(pid, 'SIGKILL');
});

test('U7: what a task of a tool listens on is told with the way to it from outside', async () => {
  const port = await freePort();
  const tool = newSession({ sandbox: { ports: auto } });
  const command = greeter(port).map(quote).join(' ');
  const { details } = await tool.execute({ command, run_in_background: true });
  const task_id = details.task?.id ?? '';
  expect(textOf(await tool.taskOutput.execute({ task_id, port }))).toContain(
    `It listens on port ${port} (127.0.0.1) in its sandbox: from outside it is http://127.0.0.1:${port}.`,
  );
  expect(await answerOf(port)).toBe(HELLO);
});

test('Unix sockets listen as without ports, and their clients see who serves', async () => {
  const both = `
import os, socket, struct
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/s")
s.listen()
c = socket.socket(socket.AF_UNIX)
c.connect("/tmp/s")
pid = struct.unpack("3i", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
print(pid == os.getpid())
`;
  const result = await run(['python3', '-c', both], {
    cwd: folder.path,
    sandbox: { ports: auto },
  });
  expect(result).toMatchObject({ output: { text: 'True\n' } });
});
