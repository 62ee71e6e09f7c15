import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, test } from 'vitest';
import { createBash20250124, toRunnableTools } from '../../../src/adapters/anthropic/index.js';
import { createBashTool } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const makeTool = () =>
  keep(createBashTool({ contract: 'workspace', cwd: folder.path, graceMs: 500 }));

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Request {
  readonly tools: readonly object[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** The Messages API as a script: each turn makes its calls at once, and then it is done. */
async function scripted(...turns: readonly (readonly object[])[]) {
  const requests: Request[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Request & { readonly stream?: boolean };
    const inputs = turns[requests.length] ?? [];
    requests.push(body);
    const calls = inputs.map((input, index) => {
      return { type: 'tool_use', id: `call-${requests.length}-${index}`, name: 'bash', input };
    });
    const message = {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: calls.length > 0 ? calls : [{ type: 'text', text: 'done' }],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json');
    response.end(body.stream ? streamed(message) : JSON.stringify(message));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Anthropic({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}` });
  /** What the model was told of its calls. */
  const told = () =>
    requests.slice(1).flatMap(({ messages }) => messages.at(-1)?.content as readonly object[]);
  return { client, requests, told };
}

/** A message as its events. */
function streamed({
  content,
  stop_reason,
  ...message
}: {
  content: object[];
  stop_reason: string;
}) {
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...content.flatMap((block, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: { ...block, ...('input' in block && { input: {} }) },
      },
      ...('input' in block
        ? [
            {
              type: 'content_block_delta',
              index,
              delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
            },
          ]
        : []),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const request = {
  model: 'scripted',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Go' }],
};

test('a model reads what a command has printed; failures and wrong input are errors', async () => {
  const { client, requests, told } = await scripted([
    { command: 'echo hello' },
    { command: 'exit 3' },
    { command: 5 },
  ]);
  const tool = makeTool();
  const last = await client.beta.messages.toolRunner({ ...request, tools: toRunnableTools(tool) });
  expect(last.content).toMatchObject([{ type: 'text', text: 'done' }]);
  expect(requests[0]?.tools).toEqual([
    { name: 'bash', description: tool.description, input_schema: tool.inputSchema },
  ]);
  const results = told();
  expect(results).toMatchObject([
    { type: 'tool_result', content: expect.stringMatching(/^hello\n/) },
    { is_error: true, content: expect.stringContaining('Command exited with code 3') },
    { is_error: true, content: 'command: expected a string, got 5' },
  ]);
  expect(results[0]).not.toHaveProperty('is_error');
});

test('an abort ends the command, and the loop', async () => {
  const controller = new AbortController();
  const { client } = await scripted([{ command: `${longSleep(87)}; true` }]);
  const runner = client.beta.messages.toolRunner(
    { ...request, tools: toRunnableTools(makeTool()) },
    { signal: controller.signal },
  );
  const running = failureOf(runner.runUntilDone());
  await eventually(() => expect(sleeping(87)).toHaveLength(1));
  controller.abort();
  expect(await running).toBeInstanceOf(Error);
  await eventually(() => expect(sleeping(87)).toEqual([]));
});

test('the loop may be streamed, and two calls at once get each their own answer', async () => {
  const { client, told } = await scripted([{ command: 'echo a' }, { command: 'echo b' }]);
  const tools = toRunnableTools(makeTool());
  const runner = client.beta.messages.toolRunner({ ...request, tools, stream: true });
  for await (const stream of runner) await stream.finalMessage();
  expect(told()).toMatchObject([
    { content: expect.stringMatching(/^a\n/) },
    { content: expect.stringMatching(/^b\n/) },
  ]);
});

test('bash_20250124 is one shell for all calls, until it is restarted', async () => {
  const bash = createBash20250124({ cwd: folder.path, graceMs: 500 });
  keep({ dispose: bash.close });
  const { client, requests, told } = await scripted(
    [{ command: 'x=1; cd /; echo err >&2; false' }],
    [{ command: 'echo "$x $PWD"' }],
    [{ restart: true }],
    [{ command: 'echo "<$x>"' }],
    [{}],
  );
  await client.beta.messages.toolRunner({ ...request, tools: [bash] });
  expect(requests[0]?.tools).toEqual([{ type: 'bash_20250124', name: 'bash' }]);
  expect(told()).toMatchObject([
    { content: expect.stringMatching(/err\n.*1/s) },
    { content: '1 /' },
    { content: expect.stringMatching(/restarted/) },
    { content: '<>' },
    { is_error: true, content: expect.stringContaining('command: expected a string') },
  ]);
});

test('processes of the shell of bash_20250124 end with it', async () => {
  const bash = createBash20250124({ cwd: folder.path, graceMs: 500 });
  await bash.run({ command: `${longSleep(88)} & true` });
  expect(sleeping(88)).toHaveLength(1);
  await bash.close();
  expect(sleeping(88)).toEqual([]);
});
