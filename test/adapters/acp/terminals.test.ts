import { agent, client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { afterEach, expect, test } from 'vitest';
import { createTerminalHost } from '../../../src/adapters/acp/index.js';
import { createBashTool } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const closing: { close(): void }[] = [];
afterEach(() => {
  for (const each of closing.splice(0)) each.close();
});

/** An agent's side of a connection to a client whose terminals are forkline's. */
function connected() {
  const terminals = keep(createTerminalHost({ graceMs: 500 }));
  const { terminal } = methods.client;
  const toClient = new TransformStream<Uint8Array, Uint8Array>();
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const editor = client({ name: 'editor' })
    .onRequest(terminal.create, ({ params }) => terminals.create(params))
    .onRequest(terminal.output, ({ params }) => terminals.output(params))
    .onRequest(terminal.waitForExit, ({ params }) => terminals.waitForExit(params))
    .onRequest(terminal.kill, ({ params }) => terminals.kill(params))
    .onRequest(terminal.release, ({ params }) => terminals.release(params))
    .connect(ndJsonStream(toAgent.writable, toClient.readable));
  const side = agent({ name: 'agent' }).connect(ndJsonStream(toClient.writable, toAgent.readable));
  closing.push(editor, side);
  return side.client;
}

const create = (command: string, more: { args?: string[]; outputByteLimit?: number } = {}) =>
  connected().createTerminal({ sessionId: 's', command, cwd: folder.path, ...more });

test('a program with arguments runs without a shell, and text without any in one', async () => {
  const program = await create('printf', { args: ['%s|', 'a b', '$HOME'] });
  expect(await program.waitForExit()).toMatchObject({ exitCode: 0 });
  expect(await program.currentOutput()).toMatchObject({ output: 'a b|$HOME|', truncated: false });
  const text = await create('echo $((1 + 1)); exit 3');
  expect(await text.waitForExit()).toEqual({ exitCode: 3, signal: null });
  expect(await text.currentOutput()).toEqual({
    output: '2\n',
    truncated: false,
    exitStatus: { exitCode: 3, signal: null },
  });
});

test('the end of a long output is kept, and the answer says so', async () => {
  const terminal = await create('seq 1000', { outputByteLimit: 9 });
  await terminal.waitForExit();
  expect(await terminal.currentOutput()).toMatchObject({ output: '999\n1000\n', truncated: true });
});

test('output so far is there while the command runs; killing it ends all that it started', async () => {
  const terminal = await create(`echo on; ${longSleep(89)} & ${longSleep(89)}; true`);
  await eventually(async () =>
    expect(await terminal.currentOutput()).toEqual({ output: 'on\n', truncated: false }),
  );
  await terminal.kill();
  expect(sleeping(89)).toEqual([]);
  expect(await terminal.waitForExit()).toEqual({ exitCode: null, signal: 'SIGTERM' });
  expect(await terminal.currentOutput()).toMatchObject({ output: 'on\n' });
});

test('a terminal that is released is gone, and its command', async () => {
  const terminal = await create(`${longSleep(90)}; true`);
  await eventually(() => expect(sleeping(90)).toHaveLength(1));
  await terminal.release();
  expect(sleeping(90)).toEqual([]);
  expect(await failureOf(terminal.currentOutput())).toBeInstanceOf(Error);
});

test('a command that cannot be started is an error of the request', async () => {
  expect(await failureOf(create('no-such-program', { args: ['-x'] }))).toBeInstanceOf(Error);
});

test("an agent's tool runs in them, two calls at once, with success, failure and an abort", async () => {
  const connection = connected();
  const makeTool = () =>
    keep(
      createBashTool({
        contract: 'workspace',
        cwd: folder.path,
        clientTerminal: { connection, sessionId: 's' },
      }),
    );
  const answers = await Promise.all(
    ['echo a', 'echo b; exit 4'].map((command) => makeTool().answer({ command })),
  );
  expect(answers).toMatchObject([
    { isError: false, text: expect.stringMatching(/^a\n/) },
    { isError: true, text: expect.stringMatching(/^b\n.*exited with code 4/s) },
  ]);
  const controller = new AbortController();
  const call = { signal: controller.signal };
  const running = failureOf(makeTool().answer({ command: `${longSleep(91)}; true` }, call));
  await eventually(() => expect(sleeping(91)).toHaveLength(1));
  controller.abort();
  expect(await running).toMatchObject({ name: 'ToolAbortError' });
  await eventually(() => expect(sleeping(91)).toEqual([]));
});
