import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { receiptOf, run, TaskManager } from '../../src/index.js';
import { quote } from '../support/commands.js';
import { namespaces } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { need, where } from '../support/needs.js';
import { useSessionTools } from '../support/session.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind(2);
const folder = useFolder();
const newSession = useSessionTools(folder);

const [program = '', ...flags] = namespaces('-n', 'true');
const canUnshare = need(
  spawnSync(program, flags).status === 0,
  'no network namespaces for this user',
);

/** A server that says hello to each client, on every address. */
const SERVER =
  'exec python3 -uc \'import socket; s = socket.create_server(("0.0.0.0", 0)); ' +
  'print("at", s.getsockname()[1], flush=True)\nwhile True: s.accept()[0].send(b"hello")\'';
const apart = namespaces('-n', 'bash', '-c', SERVER).map(quote).join(' ');
const INSIDE =
  'in a network of its own, that of its sandbox or container: it is reached only from inside.';

/** Whether something answers on a port of this host. */
function answersHere(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('data', () => socket.destroy());
  });
}

test('T11: a port of another network namespace is told as such', where(canUnshare), async () => {
  const manager = new TaskManager();
  const task = await manager.start(`exec ${apart}`, { graceMs: 0 });
  const awaited = await task.wait({ port: true });
  expect(awaited).toMatchObject({ kind: 'listening', address: '0.0.0.0', otherNetwork: true });
  if (awaited.kind === 'listening') expect(await answersHere(awaited.port)).toBe(false);
  await task.stop();
  const near = await manager.start(SERVER, { graceMs: 0 });
  const here = await near.wait({ port: true });
  expect(here).not.toHaveProperty('otherNetwork');
  if (here.kind === 'listening') expect(await answersHere(here.port)).toBe(true);
  await near.stop();
});

test(
  'T11: of a process that was left, too, in receipts and in the notice',
  where(canUnshare),
  async () => {
    const tool = newSession();
    const log = quote(folder.file('left.log'));
    const left = `${apart} >${log} 2>&1 & until grep -q at ${log}; do sleep .05; done`;
    const answer = await tool.execute({ command: left });
    expect(answer.details.receipt?.background.flatMap(({ ports }) => ports)).toMatchObject([
      { address: '0.0.0.0', otherNetwork: true },
    ]);
    expect(textOf(answer)).toContain(
      'A server there is in a network of its own (that of a container or sandbox): it is reached only from inside.',
    );
    const near = await run(`${SERVER} >${log} 2>&1 & until grep -q at ${log}; do sleep .05; done`);
    const { background } = await receiptOf(near);
    expect(background.flatMap(({ ports }) => ports)[0]).not.toHaveProperty('otherNetwork');
    for (const { pid } of background) process.kill(pid, 'SIGKILL');
  },
);

test('T11, U7: what listens in the sandbox of a tool is reached from its next command, and not from here', async () => {
  const tool = newSession({ sandbox: 'workspace-write' });
  const { details } = await tool.execute({ command: SERVER, run_in_background: true });
  const task_id = details.task?.id ?? '';
  const said = textOf(await tool.taskOutput.execute({ task_id, line: 'at ' }));
  const port = Number(/at (\d+)/.exec(said)?.[1]);
  expect(textOf(await tool.taskOutput.execute({ task_id, port }))).toMatch(
    new RegExp(`It listens on port ${port} \\(0\\.0\\.0\\.0\\) ${INSIDE.replaceAll('.', '\\.')}$`),
  );
  const read = `exec 3<>/dev/tcp/127.0.0.1/${port}; head -c 5 <&3`;
  expect(textOf(await tool.execute({ command: read }))).toMatch(/^hello/);
  expect(await answersHere(port)).toBe(false);
});
