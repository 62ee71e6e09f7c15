import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ToolAbortError, ToolError } from '../../src/index.js';
import { type AcpClient, never, useAcpClients } from '../support/acp.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';
import { textOf, useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const clientOf = useAcpClients();
const toolOf = useWorkspaceTools(folder);

function toolFor(client: AcpClient, answerMs = 300) {
  const { connection } = client;
  return toolOf({ clientTerminal: { connection, sessionId: 's', answerMs, pollMs: 50 } });
}

test('a client that refuses a terminal is a launch error with its words', async () => {
  const client = clientOf({ create: () => Promise.reject(new Error('not today')) });
  const error = await failureOf(toolFor(client).execute({ command: 'true' }));
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({
    kind: 'launch',
    message:
      'Command could not be started: the client gave no terminal (Internal error: not today)',
  });
  expect(client.count('release')).toBe(0);
});

test('a client without terminals is a launch error, not a hang', async () => {
  const client = clientOf();
  client.disconnect();
  const error = await failureOf(toolFor(client).execute({ command: 'true' }));
  expect(error).toMatchObject({ kind: 'launch' });
});

test('a client that never returns output does not keep the command from ending', async () => {
  const client = clientOf({ output: never });
  const result = await toolFor(client).execute({ command: 'echo lost; exit 4' });
  expect(textOf(result)).toMatch(
    /^\(no output\)\n\nWall time: .*\nThe client did not show the end of the output\.\n\nCommand exited with code 4$/,
  );
  expect(client.open).toBe(0);
});

test.each([
  ['\ude00 of it', ' of it'],
  ['all but \ud83d', 'all but '],
  ['in \ud83d the middle', 'in \ufffd the middle'],
  ['whole \ud83d\ude00', 'whole 😀'],
])('H9: a client that cuts inside a character shows no half of one: %j', async (output, shown) => {
  const client = clientOf({ output: async (look) => ({ ...look(), output }) });
  const said = textOf(await toolFor(client).execute({ command: 'true' }));
  expect(said.split('\n')[0]).toBe(shown);
});

test('output that was shown before the client stopped answering is kept', async () => {
  let looks = 0;
  const client = clientOf({
    output: async (look) => {
      looks += 1;
      // Not before there is something to be seen.
      while (looks === 1 && look().output === '') await sleep(10);
      return looks === 1 ? look() : never();
    },
  });
  const result = await toolFor(client, 1000).execute({
    command: 'echo seen; sleep 0.3; echo unseen',
  });
  expect(textOf(result)).toMatch(/^seen\n\nWall time: .*\nThe client did not show the end/);
});

test('a client that cannot wait for the exit reports it with the output', async () => {
  const client = clientOf({ wait: () => Promise.reject(new Error('what?')) });
  const result = await toolFor(client).execute({ command: 'echo x; sleep 0.2; exit 5' });
  expect(result).toMatchObject({ details: { exitCode: 5 }, isError: true });
  const silent = clientOf({ wait: never });
  expect(await toolFor(silent).execute({ command: 'exit 6' })).toMatchObject({
    details: { exitCode: 6 },
  });
});

test('when the client answers nothing at all, the timeout still counts', async () => {
  const client = clientOf({ output: never, wait: never, kill: never, release: never });
  const command = longSleep(321);
  const error = await failureOf(toolFor(client).execute({ command, timeout: 1 }));
  expect(error).toMatchObject({
    kind: 'timedOut',
    message:
      'The client did not show the end of the output.\n' +
      'The client did not end the command: it may still run.\n\n' +
      'Command timed out after 1 second\nFor more time, pass a larger `timeout` (at most 3600).',
  });
  expect(client.count('release')).toBe(1);
  await client.close();
  await eventually(() => expect(sleeping(321)).toEqual([]));
});

test('after a failed kill the release ends the command', async () => {
  const client = clientOf({ kill: () => Promise.reject(new Error('no')) });
  const command = `echo before; ${longSleep(322)}`;
  const error = await failureOf(toolFor(client).execute({ command, timeout: 1 }));
  expect(error).toMatchObject({
    message:
      'before\n\nCommand timed out after 1 second\nFor more time, pass a larger `timeout` (at most 3600).',
  });
  await eventually(() => expect(sleeping(322)).toEqual([]));
});

test('a release that hangs or fails changes nothing about the answer', async () => {
  for (const release of [never, () => Promise.reject(new Error('no'))]) {
    const client = clientOf({ release });
    const result = await toolFor(client).execute({ command: 'echo fine' });
    expect(textOf(result)).toMatch(/^fine\n\nWall time: \S+ seconds$/);
    expect(client.count('release')).toBe(1);
  }
});

test('neither exit code nor signal is a missing status', async () => {
  const nothing = { exitCode: null, signal: null };
  const client = clientOf({
    output: async (look) => ({ ...look(), exitStatus: null }),
    wait: async (ended) => {
      await ended();
      return nothing;
    },
  });
  const error = await failureOf(toolFor(client).execute({ command: 'echo x' }));
  expect(error).toMatchObject({
    kind: 'noStatus',
    message: 'x\n\nCommand failed: missing exit status',
  });
  expect(client.open).toBe(0);
});

test('a status in only one of two answers counts', async () => {
  const client = clientOf({
    wait: async (ended) => {
      await ended();
      return {};
    },
  });
  const result = await toolFor(client).execute({ command: 'exit 7' });
  expect(result.details.exitCode).toBe(7);
});

test('a broken connection is reported at once, with the output so far', async () => {
  const client = clientOf();
  const updates: string[] = [];
  const call = failureOf(
    toolFor(client).execute(
      { command: `echo before; ${longSleep(323)}` },
      { onUpdate: (update) => updates.push(textOf(update)) },
    ),
  );
  await eventually(() => expect(updates).toContain('before\n'));
  client.disconnect();
  const error = await call;
  expect(error).toMatchObject({ kind: 'noStatus' });
  expect(String(error)).toMatch(
    /before\n\nThe client did not show the end of the output\.\nThe client did not end the command: it may still run\.\nThe client's terminal failed: .+\n\nCommand failed: missing exit status$/,
  );
});

test('a terminal that comes after its call was aborted is released', async () => {
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const client = clientOf({
    create: async (_params, create) => {
      await arrived;
      return create();
    },
  });
  const controller = new AbortController();
  const tool = toolFor(client);
  const call = failureOf(tool.execute({ command: longSleep(324) }, { signal: controller.signal }));
  await eventually(() => expect(client.count('create')).toBe(1));
  controller.abort();
  const error = await call;
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({
    message: 'The client had not yet given a terminal for it.\n\nCommand cancelled',
  });
  arrive();
  await eventually(() => expect(client.count('release')).toBe(1));
  expect(client.open).toBe(0);
  await eventually(() => expect(sleeping(324)).toEqual([]));
});

test('a terminal that never comes is not waited for beyond the timeout, nor at the end', async () => {
  const client = clientOf({ create: never });
  const tool = toolFor(client);
  const error = await failureOf(tool.execute({ command: 'true', timeout: 1 }));
  expect(error).toMatchObject({ kind: 'timedOut', details: { timeoutSeconds: 1 } });
  expect(error).not.toHaveProperty('details.terminalId');
  await tool.dispose();
});

test('answers that break the protocol do no harm', async () => {
  const client = clientOf({
    output: async () => ({ output: 7, truncated: 'yes', exitStatus: { exitCode: '0' } }) as never,
  });
  const result = await toolFor(client).execute({ command: 'exit 8' });
  expect(result.details.exitCode).toBe(8);
});
