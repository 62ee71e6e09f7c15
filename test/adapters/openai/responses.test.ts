import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import {
  answerShellCall,
  createShell,
  type LocalShellSettings,
} from '../../../src/adapters/openai/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const makeShell = (settings: LocalShellSettings = {}) =>
  keep(createShell({ cwd: folder.path, graceMs: 500, ...settings }));

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The Responses API as a script: it answers the first request with these calls, then it is done. */
async function scripted(calls: readonly object[]) {
  const inputs: unknown[][] = [];
  const server = createServer(async (request, response) => {
    const { input } = (await json(request)) as { input: unknown[] };
    inputs.push(input);
    const message = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'done', annotations: [] }],
    };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ object: 'response', output: inputs.length > 1 ? [message] : calls }),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}` });
  return { client, inputs };
}

test('a loop around the Responses API answers both kinds of shell calls', async () => {
  const shell = makeShell();
  const { client, inputs } = await scripted([
    {
      type: 'shell_call',
      id: 'sh_1',
      call_id: 'call-1',
      action: { commands: ['echo out; echo err >&2', 'exit 3'], max_output_length: 100 },
    },
    {
      type: 'local_shell_call',
      id: 'ls_1',
      call_id: 'call-2',
      action: { type: 'exec', command: ['printf', '%s|', 'a b', '$HOME'], env: {} },
    },
  ]);
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Go' }];
  for (;;) {
    const response = await client.responses.create({ model: 'scripted', input });
    input.push(...(response.output as OpenAI.Responses.ResponseInput));
    const calls = response.output.filter(
      (item) => item.type === 'shell_call' || item.type === 'local_shell_call',
    );
    if (calls.length === 0) break;
    for (const call of calls) {
      input.push(
        call.type === 'shell_call'
          ? await answerShellCall(shell, call)
          : await answerShellCall(shell, call),
      );
    }
  }
  expect(inputs[1]?.slice(-2)).toEqual([
    {
      type: 'shell_call_output',
      call_id: 'call-1',
      max_output_length: 100,
      output: [
        { stdout: 'out\n', stderr: 'err\n', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 3 } },
      ],
    },
    {
      type: 'local_shell_call_output',
      id: 'call-2',
      call_id: 'call-2',
      output: JSON.stringify({ stdout: 'a b|$HOME|', stderr: '', exit_code: 0 }),
    },
  ]);
});

const shellCall = (action: object) =>
  ({ type: 'shell_call', call_id: 'call', action: { commands: ['true'], ...action } }) as const;
const localCall = (action: object) =>
  ({
    type: 'local_shell_call',
    call_id: 'call',
    action: { command: ['true'], ...action },
  }) as const;

test('a command whose time is up ends the call, with everything that it started', async () => {
  const commands = [`echo early; ${longSleep(84)} & ${longSleep(84)}; true`, 'echo never'];
  const { output } = await answerShellCall(makeShell(), shellCall({ commands, timeout_ms: 300 }));
  expect(output).toEqual([{ stdout: 'early\n', stderr: '', outcome: { type: 'timeout' } }]);
  expect(sleeping(84)).toEqual([]);
});

test('the middle of a long output is left out, and a line says how much', async () => {
  const call = shellCall({ commands: ['seq 1000'], max_output_length: 20 });
  const { output } = await answerShellCall(makeShell(), call);
  expect(output[0]?.stdout).toMatch(
    /^1\n2\n3\n4\n5\n\n?\[… 3\.8KB, \d+ lines, not shown …\]\n\d*\n999\n1000\n$/,
  );
});

test('a command that cannot be started is reported as by a shell, and the loop goes on', async () => {
  const shell = makeShell();
  const told = async (action: object) =>
    JSON.parse((await answerShellCall(shell, localCall(action))).output);
  expect(await told({ command: ['no-such-program'] })).toMatchObject({ exit_code: 127 });
  expect(await told({ working_directory: '/none' })).toMatchObject({ exit_code: 126 });
  expect(await told({ command: [] })).toMatchObject({ exit_code: 2 });
  expect(await told({ user: 'nobody' })).toMatchObject({
    exit_code: 126,
    stderr: expect.stringContaining('got "nobody"'),
  });
  expect(await told({ timeout_ms: 50, command: ['sleep', '10'] })).toMatchObject({
    timed_out: true,
  });
});

test('an abort ends the command and is thrown', async () => {
  const controller = new AbortController();
  const call = shellCall({ commands: [`${longSleep(85)}; true`] });
  const running = failureOf(answerShellCall(makeShell(), call, { signal: controller.signal }));
  await eventually(() => expect(sleeping(85)).toHaveLength(1));
  controller.abort(new Error('enough'));
  expect(await running).toMatchObject({ message: 'enough' });
  expect(sleeping(85)).toEqual([]);
});

test('processes that commands left running are reported, and end with the shell', async () => {
  const shell = makeShell();
  const commands = [`${longSleep(86)} >/dev/null 2>&1 &`];
  const { output } = await answerShellCall(shell, shellCall({ commands }));
  expect(output[0]?.stderr).toMatch(/^\[still running: \d+ .*; kill -9 -- -\d+ ends it\]\n$/);
  await eventually(() => expect(sleeping(86)).toHaveLength(1));
  await shell.dispose();
  expect(sleeping(86)).toEqual([]);
});
