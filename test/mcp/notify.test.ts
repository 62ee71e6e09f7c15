import { writeFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { program } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { useTasks } from '../support/detached-tasks.js';
import { answerOf, useRawServers } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

const tasks = useTasks();
const startRaw = useRawServers();

interface LogNote {
  readonly level: string;
  readonly data: {
    readonly task: string;
    readonly news: readonly string[];
    readonly watches?: readonly string[];
    readonly unmet?: readonly string[];
  };
}

/** An official client of a server of its own, and what that has logged with level `notice`. */
async function connect(options: object) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const notes: LogNote[] = [];
  client.setNotificationHandler('notifications/message', ({ params }) => {
    notes.push(params as LogNote);
  });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', '--cwd', tasks.folder.path, '--options', JSON.stringify(options)],
    env: { ...process.env, TMPDIR: tasks.folder.path } as Record<string, string>,
    stderr: 'ignore',
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, input: Record<string, unknown>): Promise<string> =>
    answerOf(await client.callTool({ name, arguments: input }));
  const start = async (command: string, notify: object): Promise<string> => {
    const said = await call('bash', { command, run_in_background: true, notify });
    return /task_id: (\w+)/.exec(said)?.[1] ?? said;
  };
  const told = (task: string) =>
    notes.filter(({ level, data }) => level === 'notice' && data.task === task);
  return { client, pid: transport.pid ?? 0, call, start, told };
}

test('a client is told what its model has asked for, once, with level `notice`', async () => {
  const { start, told } = await connect({ notify: true });
  const id = await start('echo ready 1; sleep 3; echo ready 2; exit 3', {
    ...{ line: 'ready', silent: 1, port: 9, ended: true },
  });
  await eventually(() => expect(told(id)).toHaveLength(3));
  expect(told(id).map(({ data }) => data)).toMatchObject([
    { news: ['it has printed: ready 1'], watches: ['line'] },
    { news: ['it has printed nothing for 1 seconds'], watches: ['silent'] },
    {
      news: [
        'its command has ended with exit code 3, and before that no port was as awaited',
        'none of its processes runs any more',
      ],
      watches: ['ended'],
      unmet: ['port'],
    },
  ]);
});

test('a port is told to the client', async () => {
  const { call, start, told } = await connect({ notify: true });
  const server =
    'exec python3 -uc \'import socket; s=socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1]); s.accept()\'';
  const first = await start(server, { line: 'x' });
  const port = Number(
    /\n(\d+)\n/.exec(await call('task_output', { task_id: first, silent: 1 }))?.[1],
  );
  await call('kill_task', { task_id: first });
  const second = await start(server.replace('", 0)', `", ${port})`), { port });
  await eventually(() => expect(told(second)).toHaveLength(1));
  expect(told(second)[0]?.data).toMatchObject({
    news: [`it listens on port ${port} (127.0.0.1)`],
    watches: ['port'],
  });
});

test('a server is killed: the next one tells its client what came since, once', async () => {
  const options = { notify: true, taskLifetime: 'detached', tasks: { name: 'mcp of tests' } };
  const first = await connect(options);
  const until = `until test -e ${quote(tasks.folder.file('go'))}; do sleep .05; done`;
  const id = tasks.note(
    await first.start(`${until}; echo ready; exit 5`, { line: 'ready', ended: true }),
  );
  process.kill(first.pid, 'SIGKILL');
  writeFileSync(tasks.folder.file('go'), '');
  const second = await connect(options);
  await eventually(() =>
    expect(second.told(id).flatMap(({ data }) => data.watches)).toEqual(['line', 'ended']),
  );
  const third = await connect(options);
  await third.call('list_tasks', {});
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(third.told(id)).toEqual([]);
  expect(second.told(id).flatMap(({ data }) => data.watches)).toEqual(['line', 'ended']);
});

test('what is there at the start is told after the client has said that it is ready', async () => {
  const options = { notify: true, taskLifetime: 'detached', tasks: { name: 'early' } };
  const first = await connect(options);
  const id = tasks.note(await first.start('sleep .5; echo ready', { line: 'ready' }));
  process.kill(first.pid, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 800));
  const server = await startRaw('--contract', 'session', '--options', JSON.stringify(options));
  await eventually(() =>
    expect(server.lines.filter((line) => line.includes('"watches":["line"]'))).toHaveLength(1),
  );
  const at = server.lines.findIndex((line) => line.includes(id));
  expect(server.lines.findIndex((line) => line.includes('protocolVersion'))).toBeLessThan(at);
});

test('a client that wants watches alone sets the level to `notice`', async () => {
  const server = await startRaw('--contract', 'session', '--options', '{"notify":true}');
  await server.request('logging/setLevel', { level: 'notice' });
  const bash = async (input: object): Promise<void> => {
    await server.request('tools/call', {
      name: 'bash',
      arguments: { ...input, run_in_background: true },
    });
  };
  await bash({ command: 'echo plain' });
  await bash({ command: 'echo ready; sleep .5', notify: { line: 'ready' } });
  await eventually(() => expect(server.lines.join('')).toContain('"watches":["line"]'));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const notes = server.lines.filter((line) => line.includes('notifications/message'));
  expect(notes).toHaveLength(1);
});
