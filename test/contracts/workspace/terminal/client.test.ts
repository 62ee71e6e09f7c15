import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentContext, CreateTerminalRequest } from '@agentclientprotocol/sdk';
import { expect, expectTypeOf, test } from 'vitest';
import {
  type ClientTerminalConnection,
  type ClientTerminalRequest,
  ToolAbortError,
  ToolError,
  type ToolResult,
  type WorkspaceDetails,
  type WorkspaceOptions,
} from '../../../../src/index.js';
import { type AcpClient, useAcpClients } from '../../../support/acp.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { failureOf } from '../../../support/results.js';
import { answerTo, textOf, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const clientOf = useAcpClients();
const toolOf = useWorkspaceTools(folder);

function toolFor(client: AcpClient, options: Partial<WorkspaceOptions> = {}) {
  return toolOf({
    clientTerminal: { connection: client.connection, sessionId: 'session-1', answerMs: 2000 },
    ...options,
  });
}

test("the SDK's side of an agent is a connection, and takes what is sent", () => {
  expectTypeOf<AgentContext>().toExtend<ClientTerminalConnection>();
  expectTypeOf<ClientTerminalRequest>().toExtend<CreateTerminalRequest>();
});

test('a command runs in a terminal of the client, and the answer is the usual one', async () => {
  const client = clientOf();
  const tool = toolFor(client);
  const command = 'echo out; echo "$CLIENT"; pwd';
  expect(await answerTo(tool, { command })).toBe(
    `out\nyes\n${folder.path}\n\nWall time: T seconds`,
  );
  expect(await answerTo(tool, { command: 'true' })).toBe('(no output)\n\nWall time: T seconds');
  expect(client.open).toBe(0);
  expect(client.count('release')).toBe(2);
});

test('the client gets the shell, the line as one argument, and absolute paths', async () => {
  const client = clientOf();
  await toolFor(client).execute({ command: 'echo "a b" | cat', timeout: 5 });
  expect(client.created).toEqual([
    {
      sessionId: 'session-1',
      command: '/bin/bash',
      args: ['--norc', '-c', 'echo "a b" | cat'],
      cwd: folder.path,
      env: expect.any(Array),
      outputByteLimit: 51_200,
    },
  ]);
});

test('a prefix goes with the command, a snapshot of the shell here does not', async () => {
  const client = clientOf();
  const tool = toolFor(client, { commandPrefix: 'nice -n 3', shellSnapshot: true });
  expect(await answerTo(tool, { command: 'nice' })).toBe('3\n\nWall time: T seconds');
  expect(client.created[0]?.args).toEqual(['--norc', '-c', 'nice -n 3 nice']);
});

test('another shell can be named', async () => {
  const client = clientOf();
  const clientTerminal = { connection: client.connection, sessionId: 's', shell: '/bin/sh' };
  await toolOf({ clientTerminal }).execute({ command: 'true' });
  expect(client.created[0]?.command).toBe('/bin/sh');
});

test('variables of the host stay here; those of the tool and of the call are sent', async () => {
  process.env.FORKLINE_TEST_HOST_ONLY = 'x';
  const client = clientOf();
  const tool = toolFor(client, { env: { OF_TOOL: '1', PAGER: undefined } });
  const command = 'echo "$FORKLINE_TEST_HOST_ONLY,$OF_TOOL,$OF_CALL,$PAGER,$GIT_PAGER"';
  expect(await answerTo(tool, { command, env: { OF_CALL: '2 3' } })).toContain(',1,2 3,,cat\n');
  delete process.env.FORKLINE_TEST_HOST_ONLY;
  const names = client.created[0]?.env?.map(({ name }) => name) ?? [];
  expect(names).not.toContain('PATH');
  expect(names).not.toContain('PAGER');
});

test('the first update names the terminal before there is output, later ones have it', async () => {
  const client = clientOf();
  const updates: ToolResult<Partial<WorkspaceDetails>>[] = [];
  const chunks: string[] = [];
  const result = await toolFor(client).execute(
    { command: 'echo one; sleep 0.8; echo two' },
    { onUpdate: (update) => updates.push(update), onOutput: ({ text }) => chunks.push(text) },
  );
  expect(updates.map(({ details }) => details)).toEqual(
    updates.map(() => ({ terminalId: 'term-1' })),
  );
  expect(updates.map(textOf)).toEqual(['', 'one\n', 'one\ntwo\n']);
  expect(chunks).toEqual(['one\n', 'two\n']);
  expect(result.details).toEqual({
    timeoutSeconds: 300,
    wallTimeMs: expect.any(Number),
    terminalId: 'term-1',
    receipt: {
      pid: 0,
      outcome: { kind: 'exited', exitCode: 0 },
      background: [],
      streams: { output: { bytes: 8, characters: 8, lines: 2, cut: false, lossy: false } },
      troubles: [],
      durationMs: expect.any(Number),
    },
  });
});

test('a failing command is a result with its exit code', async () => {
  const result = await toolFor(clientOf()).execute({ command: 'echo no; exit 3' });
  expect(textOf(result)).toMatch(/^no\n\nWall time: .* seconds\n\nCommand exited with code 3$/);
  expect(result).toMatchObject({ isError: true, details: { exitCode: 3, terminalId: 'term-1' } });
});

test('death by a signal is exit code 137, and the signal is named', async () => {
  const result = await toolFor(clientOf()).execute({ command: 'echo x; kill -TERM $$' });
  expect(textOf(result)).toMatch(
    /^x\n\nWall time: .*\nKilled by SIGTERM\.\n\nCommand exited with code 137$/,
  );
  expect(result).toMatchObject({ isError: true, details: { exitCode: 137 } });
});

test('when the time is up the command is killed, and then its last output read', async () => {
  const client = clientOf();
  const command = `echo before; ${longSleep(311)}`;
  const error = await failureOf(toolFor(client).execute({ command, timeout: 1 }));
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({
    kind: 'timedOut',
    message:
      'before\n\nCommand timed out after 1 second\nFor more time, pass a larger `timeout` (at most 3600).',
    details: { terminalId: 'term-1', timeoutSeconds: 1 },
  });
  expect(client.requests.slice(-3)).toEqual(['kill', 'output', 'release']);
  await eventually(() => expect(sleeping(311)).toEqual([]));
});

test('aborting ends the command, with what it had printed', async () => {
  const client = clientOf();
  const controller = new AbortController();
  const call = toolFor(client).execute(
    { command: `echo before; ${longSleep(312)}` },
    { signal: controller.signal },
  );
  await eventually(() => expect(sleeping(312)).toHaveLength(1));
  controller.abort();
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({ message: 'before\n\nCommand cancelled' });
  expect(client.count('release')).toBe(1);
  expect(client.open).toBe(0);
  await eventually(() => expect(sleeping(312)).toEqual([]));
});

test('a call that is aborted already asks the client for nothing', async () => {
  const client = clientOf();
  const call = toolFor(client).execute({ command: 'true' }, { signal: AbortSignal.abort() });
  expect(await failureOf(call)).toBeInstanceOf(ToolAbortError);
  await sleep(50);
  expect(client.requests).toEqual([]);
});

test('a client that drops the beginning is believed, and no number is guessed', async () => {
  const chunks: string[] = [];
  const result = await toolFor(clientOf(), { tailBytes: 1024 }).execute(
    { command: 'seq 1 1000; sleep 0.6; echo LAST' },
    { onOutput: ({ text }) => chunks.push(text) },
  );
  expect(textOf(result)).toMatch(
    /\nLAST\n\n\[Showing the last 1\.0KB; the client's terminal keeps no more\]\nWall time/,
  );
  expect(result.details).toMatchObject({ terminalTruncated: true });
  expect(result.details).not.toHaveProperty('meta');
});

test('output that a client sends beyond the limit is cut, with real line numbers', async () => {
  const client = clientOf({
    create: (params, create) => {
      params.outputByteLimit = 1_000_000;
      return create();
    },
  });
  const result = await toolFor(client, { tailBytes: 1024 }).execute({ command: 'seq 1 1000' });
  expect(textOf(result)).toMatch(
    /^745\n[\d\n]*\n1000\n\n\[Showing lines 745-1000 of 1000 \(1\.0KB limit\)\]\n/,
  );
  expect(result.details.meta?.truncation).toMatchObject({ totalLines: 1000, totalBytes: 3893 });
});

test('lines that a terminal ends with CR LF end with LF', async () => {
  const tool = toolFor(clientOf());
  expect(await answerTo(tool, { command: "printf 'a\\r\\nb\\r\\n'" })).toContain('a\nb\n\nWall');
});

test('a directory that is not there is an error before the client hears of it', async () => {
  const client = clientOf();
  const error = await failureOf(toolFor(client).execute({ command: 'true', cwd: 'nowhere' }));
  expect(error).toMatchObject({
    kind: 'directory',
    message: `Working directory does not exist: ${folder.file('nowhere')}`,
  });
  expect(client.requests).toEqual([]);
});

test('an explicit background job runs here; one that takes long stays with the client', async () => {
  const client = clientOf();
  const tool = toolFor(client, { async: true, autoBackground: { afterMs: 100 } });
  const started = await tool.execute({ command: 'echo here', async: true });
  expect(started.details.async).toMatchObject({ jobId: 'bg_1' });
  expect(client.requests).toEqual([]);
  const result = await tool.execute({ command: 'sleep 0.5; echo there' });
  expect(result.details).toMatchObject({ terminalId: 'term-1' });
  expect(textOf(result)).toContain('there');
});

test('disposing of the tool ends its commands and gives their terminals back', async () => {
  const client = clientOf();
  const tool = toolFor(client);
  const call = failureOf(tool.execute({ command: longSleep(313) }));
  await eventually(() => expect(sleeping(313)).toHaveLength(1));
  await tool.dispose();
  expect(client.open).toBe(0);
  expect(await call).toBeInstanceOf(ToolAbortError);
  await eventually(() => expect(sleeping(313)).toEqual([]));
});

test('options that cannot work are refused', () => {
  const connection = clientOf().connection;
  expect(() => toolOf({ clientTerminal: { sessionId: 's' } as never })).toThrow(
    'clientTerminal.connection: expected an object with createTerminal(), got nothing',
  );
  expect(() => toolOf({ clientTerminal: { connection } as never })).toThrow(
    'clientTerminal.sessionId: expected a string, got nothing',
  );
  expect(() => toolOf({ clientTerminal: { connection, sessionId: 's', pollMs: 0 } })).toThrow(
    'clientTerminal.pollMs: expected a number from 1, got 0',
  );
});
