import { type ChildProcess, spawn as spawnChild } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { connect, NoWorkerError, WorkerLostError } from '../../src/remote/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { FAR_SIDE, testWithNode } from '../support/far.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually, isGone, processesRunning } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const relays: ChildProcess[] = [];
afterEach(() => {
  for (const relay of relays.splice(0)) relay.kill('SIGKILL');
});

/** The far side behind a program of which the pid is known: its line. */
async function connectBehindLine() {
  const file = folder.file(`line-${Math.random()}`);
  // A pipe each way, as ssh and docker have: the far side is no child of the line.
  const command = ['bash', '-c', `echo $$ >${file}; exec "$@"`, 'bash', ...FAR_SIDE];
  const far = await connect({ command });
  return { far, pid: Number(readFileSync(file, 'utf8')) };
}

/** Kills a process once: output that was on its way still comes when it is gone. */
function killOnce(pid: number): () => void {
  let isKilled = false;
  return () => {
    if (!isKilled) process.kill(pid, 'SIGKILL');
    isKilled = true;
  };
}

/** By a letter that no other file's tests print by `tr`: they run beside these. */
const FLOOD = 'head -c 40000000 /dev/zero | tr "\\0" q';

test('a client that is killed leaves nothing running there', async () => {
  const host = startHost('far', { args: [JSON.stringify(FAR_SIDE), longSleep(174)] });
  const { pid } = await host.next<{ readonly pid: number }>();
  await eventually(() => expect(sleeping(174).length).toBeGreaterThanOrEqual(2));
  host.child.kill('SIGKILL');
  await host.ended;
  await eventually(() => expect(sleeping(174)).toEqual([]));
  await eventually(() => expect(isGone(pid)).toBe(true));
});

test('a client that ends by itself takes what it has started along', async () => {
  const script = folder.file('leaves');
  const host = startHost('far', {
    args: [JSON.stringify(FAR_SIDE), `touch ${script}; sleep 1; exec ${longSleep(175)} &`],
  });
  await host.next();
  await host.ended;
  expect(existsSync(script)).toBe(true);
  await eventually(() => expect(sleeping(175)).toEqual([]));
});

test('the error after a far side was killed has the output that was received', async () => {
  const { far, pid } = await connectBehindLine();
  const listening = failureOf(far.run(`echo early; ${longSleep(176)}`, { onOutput: () => {} }));
  const silent = failureOf(far.run(`seq 1 100000; echo late; ${longSleep(176)}`));
  const live = await far.spawn(longSleep(176));
  await eventually(() => expect(sleeping(176)).toHaveLength(3));
  // Its output is told once a second.
  await sleep(2000);
  process.kill(pid, 'SIGKILL');
  const lost = await listening;
  expect(lost).toBeInstanceOf(WorkerLostError);
  expect(lost).toMatchObject({ started: true, output: 'early\n' });
  const { output } = (await silent) as WorkerLostError;
  expect(output).toMatch(/^\d+\n.*\n100000\nlate\n$/s);
  expect(output.length).toBeLessThanOrEqual(8192);
  expect(await failureOf(live.result)).toMatchObject({ name: 'WorkerLostError', started: true });
  expect(await failureOf(far.run('true'))).toBeInstanceOf(NoWorkerError);
  expect(await failureOf(far.spawn('true'))).toBeInstanceOf(NoWorkerError);
  // Its commands end with it.
  await eventually(() => expect(sleeping(176)).toEqual([]));
  await far.dispose();
});

testWithNode('a tool whose far side was killed tells so, and takes no more calls', async () => {
  const { far, pid } = await connectBehindLine();
  const bash = await far.createBashTool({ contract: 'plain' });
  const call = failureOf(bash.execute({ command: longSleep(186) }, { onOutput: () => {} }));
  await eventually(() => expect(sleeping(186)).toHaveLength(1));
  process.kill(pid, 'SIGKILL');
  expect(await call).toMatchObject({ name: 'WorkerLostError', started: 'unknown' });
  expect(await failureOf(bash.execute({ command: 'true' }))).toBeInstanceOf(NoWorkerError);
  await eventually(() => expect(sleeping(186)).toEqual([]));
  await far.dispose();
});

testWithNode('a tool whose far side is gone says so, and what to do', async () => {
  const { far, pid } = await connectBehindLine();
  const bash = await far.createBashTool({ contract: 'plain' });
  process.kill(pid, 'SIGKILL');
  await far.closed;
  const error = await failureOf(bash.execute({ command: 'true' }));
  expect(error).toBeInstanceOf(NoWorkerError);
  expect((error as Error).message).toBe(
    'The far side of this tool was lost, with its state; nothing was started. Another tool has to be made.',
  );
  expect(((await failureOf(far.createBashTool({ contract: 'plain' }))) as Error).message).toBe(
    'The line to the far side is closed; nothing was started.',
  );
  await far.dispose();
  expect(((await failureOf(far.createBashTool({ contract: 'plain' }))) as Error).message).toBe(
    'The connection was disposed of; nothing was started.',
  );
});

test('a lost live command causes no unhandled rejection', async () => {
  const { far, pid } = await connectBehindLine();
  await far.spawn(longSleep(177));
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(sleeping(177)).toEqual([]));
  // An unhandled rejection would fail this file.
  await sleep(100);
  await far.dispose();
});

test('a far side that is told to end ends its commands, and the client is told', async () => {
  const { far, pid } = await connectBehindLine();
  const running = failureOf(far.run(longSleep(178)));
  await eventually(() => expect(sleeping(178)).toHaveLength(1));
  process.kill(pid, 'SIGTERM');
  expect(await running).toBeInstanceOf(WorkerLostError);
  await eventually(() => expect(sleeping(178)).toEqual([]));
  await far.dispose();
});

test('in the middle of 40 MB: a far side that is killed', async () => {
  const { far, pid } = await connectBehindLine();
  const kill = killOnce(pid);
  let bytes = 0;
  const running = far.run(`${FLOOD}; ${longSleep(179)}`, {
    onOutput: ({ text, droppedBytes }) => {
      bytes += text.length + droppedBytes;
      if (bytes > 5_000_000) kill();
    },
  });
  const lost = await failureOf(running);
  expect(lost).toBeInstanceOf(WorkerLostError);
  const { output } = lost as WorkerLostError;
  expect(output.length).toBe(64 * 1024);
  expect(output).toBe('q'.repeat(output.length));
  await eventually(() => expect(processesRunning('tr \\0 q')).toEqual([]));
  await far.dispose();
});

test('in the middle of 40 MB: a line that is cut', async () => {
  // The far side serves a socket, and the client reaches it through a relay that can be killed.
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const child = spawnChild(FAR_SIDE[0] ?? '', FAR_SIDE.slice(1), {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    relays.push(child);
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
    socket.on('error', () => child.stdin.end());
  });
  await new Promise<void>((resolve) => server.listen(folder.file('line'), resolve));
  const relay = `
    const socket = require('node:net').connect(${JSON.stringify(folder.file('line'))});
    process.stdin.pipe(socket); socket.pipe(process.stdout);`;
  const pidFile = folder.file('relay');
  const command = ['bash', '-c', `echo $$ >${pidFile}; exec "$@"`, 'bash'];
  const far = await connect({ command: [...command, process.execPath, '-e', relay] });
  const kill = killOnce(Number(readFileSync(pidFile, 'utf8')));
  let bytes = 0;
  const live = await far.spawn(`${FLOOD}; ${longSleep(180)}`, { overflow: 'pause' });
  for await (const { text } of live) {
    bytes += text.length;
    if (bytes > 5_000_000) kill();
  }
  expect(await failureOf(live.result)).toBeInstanceOf(WorkerLostError);
  // The other end of the line ends what the client had started, and then itself.
  await eventually(() => expect(relays.every((child) => child.exitCode !== null)).toBe(true));
  expect(sleeping(180)).toEqual([]);
  expect(processesRunning('tr \\0 q')).toEqual([]);
  await far.dispose();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('the end of a client that reads nothing is noticed', async () => {
  const pidFile = folder.file('tap');
  // What the far side says goes through a program that stops; its input is the client's own.
  const tap = `"$@" | (echo $BASHPID >${pidFile}; exec cat)`;
  const host = startHost('far', {
    args: [
      JSON.stringify(['bash', '-c', tap, 'bash', ...FAR_SIDE]),
      `sleep 1; ${FLOOD}; ${longSleep(185)}`,
    ],
  });
  await host.next();
  const pid = Number(readFileSync(pidFile, 'utf8'));
  process.kill(pid, 'SIGSTOP');
  await eventually(() => expect(sleeping(185)).not.toEqual([]));
  host.child.kill('SIGKILL');
  await host.ended;
  await eventually(() => expect(sleeping(185)).toEqual([]));
  process.kill(pid, 'SIGKILL');
});
