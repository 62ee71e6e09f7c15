import { expect, test } from 'vitest';
import { useFolder } from '../support/leftovers.js';
import { answerOf, useRawServers, type WireMessage } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

const folder = useFolder();
const start = useRawServers();

const session = (options: object) =>
  start('--contract', 'session', '--cwd', folder.path, '--options', JSON.stringify(options));

test('a call that would outlast the client is answered before, with the id of its task', async () => {
  const server = await session({ autoBackgroundMs: 1000 });
  const call = async (name: string, input: object): Promise<string> => {
    const { result = {} } = await server.request('tools/call', { name, arguments: input });
    return answerOf(result);
  };
  const early = await call('bash', { command: 'echo one; sleep 3; echo two' });
  const [, id] = /^one\n\nStill running after 1 second; .* task_id: (\w+)\n/.exec(early) ?? [];
  const end = await call('task_output', { task_id: id, seconds: 20 });
  expect(end).toMatch(
    new RegExp(`^task_id: ${id}\nstatus: completed\n\ntwo\n\nAll of its output: /`),
  );
});

test('events of tasks come as messages of the log', async () => {
  const server = await session({});
  const command = 'exec python3 -c "import socket; s=socket.socket(); s.listen(); s.accept()"';
  const { result = {} } = await server.request('tools/call', {
    name: 'bash',
    arguments: { command, run_in_background: true },
  });
  const [id] = /task_[0-9a-f]{8}/.exec(answerOf(result)) ?? [];
  const told = () =>
    server.lines
      .map((line) => JSON.parse(line) as WireMessage)
      .filter(({ method }) => method === 'notifications/message')
      .map(({ params = {} }) => ({ level: params.level, ...(params.data as object) }));
  await eventually(() =>
    expect(told()).toMatchObject([
      { level: 'info', task: id, news: [expect.stringMatching(/^it listens on port \d+ \(/)] },
    ]),
  );
  await server.request('tools/call', { name: 'kill_task', arguments: { task_id: id } });
  await eventually(() =>
    expect(told().at(-1)).toMatchObject({
      news: ['its command has ended: cancelled', 'none of its processes runs any more'],
    }),
  );
});

test('T: a terminal is typed into, and its screen is the answer', async () => {
  const server = await session({});
  const call = async (name: string, input: object): Promise<string> => {
    const { result = {} } = await server.request('tools/call', { name, arguments: input });
    return answerOf(result);
  };
  const command = 'read -rp "Name? " name; read -rsp "Password: " p; echo; echo "Hello, $name"';
  const started = await call('bash', { command, run_in_background: true, pty: true });
  const [task_id] = /task_[0-9a-f]{8}/.exec(started) ?? [];
  expect(await call('task_output', { task_id, line: 'Name?' })).toContain('\n\nName?\n\n');
  expect(await call('write_task', { task_id, text: 'Ann', keys: ['enter'] })).toMatch(
    /\n\nName\? Ann\nPassword:\n\n.*It asks for a password/,
  );
  expect(await call('write_task', { task_id, text: 'secret\n' })).toContain('\nHello, Ann');
});
