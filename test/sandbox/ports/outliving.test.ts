import { expect, test } from 'vitest';
import { attach, run } from '../../../src/index.js';
import { cli } from '../../support/cli.js';
import { quote } from '../../support/commands.js';
import { useTasks } from '../../support/detached-tasks.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { answerOf, freePort, GREETER, serveHere, untilRefused } from './relay.js';

const tasks = useTasks();
leavesNothingBehind(3);

const greeter = (port: number): string =>
  ['python3', '-c', GREETER, String(port), '127.0.0.1'].map(quote).join(' ');
const CLIENT =
  'import socket,sys; print(socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(99).decode())';

test('ports of a detached command last as long as it does, though its host has ended', async () => {
  const port = await freePort();
  const flags = ['--sandbox', 'workspace-write', '--publish', 'auto', '--cwd', tasks.folder.path];
  const { stdout, stderr } = await cli('run', ...flags, '--detach', greeter(port));
  expect(stderr).toBe('');
  const id = tasks.note(stdout.toString().trim());
  const task = await attach(id);
  const awaited = await task.wait({ port });
  expect(awaited).toMatchObject({ kind: 'listening', port, url: `http://127.0.0.1:${port}` });
  expect(await answerOf(port)).toBe('hello from inside');
  const other = tasks.note((await cli('run', '--detach', 'sleep 60')).stdout.toString().trim());
  const list = JSON.parse((await cli('tasks', '--json')).stdout.toString());
  const row = (of: string) => list.find((each: { id: string }) => each.id === of);
  expect(row(id)).toMatchObject({ ports: [{ inside: port, url: `http://127.0.0.1:${port}` }] });
  expect(row(other)).not.toHaveProperty('ports');
  const table = (await cli('tasks')).stdout.toString();
  expect(table).toMatch(/^ID +STATE +TIME +PID +PORTS +COMMAND$/m);
  expect(table).toMatch(new RegExp(`^${id} .* http://127\\.0\\.0\\.1:${port} +\\S`, 'm'));
  await (await attach(other)).stop({ graceMs: 0 });
  await task.stop({ graceMs: 0 });
  await untilRefused(port);
  const after = JSON.parse((await cli('tasks', '--json')).stdout.toString());
  expect(JSON.stringify(after)).not.toContain('"ports"');
  const { state } = task.subject;
  expect(state.kind).toBe('ended');
  if (state.kind === 'ended') expect(state.receipt?.sandbox).not.toHaveProperty('ports');
});

test('forkline run reaches the ports that it names', async () => {
  const port = await serveHere((client) => client.end('from the host'));
  const reach = ['--reach', `7:${port}`, '--reach', `${port}`];
  const flags = ['--sandbox', 'read-only', ...reach, '--cwd', '/'];
  const { stdout } = await cli('run', ...flags, '--', 'python3', '-c', CLIENT, '7');
  expect(stdout.toString()).toBe('from the host\n');
});

test.each([
  [['--reach', '5432'], '--reach: expected together with --sandbox'],
  [['--publish', 'auto'], '--publish: expected together with --sandbox'],
  [['--sandbox', 'read-only', '--reach', 'db'], 'Expected PORT or PORT:HOST_PORT'],
  [['--sandbox', 'read-only', '--reach', '99999'], 'expected a port from 1 to 65535, got 99999'],
  [['--sandbox', 'read-only', '--publish', '9229'], 'a policy allows that by `dangerous: true`'],
  [['--sandbox', 'read-only', '--publish', 'auto', '--publish', '3000'], "ports or 'auto'"],
  [['--sandbox', 'read-only', '--publish', '3000', '--publish', 'auto'], "ports or 'auto'"],
])('%j is refused, and the message says what would be right', async (flags, message) => {
  const { code, stderr } = await cli('run', ...flags, 'true');
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});

test('commands with other ports are in another sandbox', async () => {
  const cwd = tasks.folder.path;
  const first = await run('touch /tmp/mine', { cwd, sandbox: { ports: { publish: 'auto' } } });
  const second = await run('test -e /tmp/mine', { cwd, sandbox: { ports: { reach: [7] } } });
  expect(first.outcome).toMatchObject({ exitCode: 0 });
  expect(second.outcome).toMatchObject({ exitCode: 1 });
});
