import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { GoogleGenAI } from '@google/genai';
import { afterEach, expect, test } from 'vitest';
import { toCallableTool } from '../../../src/adapters/genai/index.js';
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
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Request {
  readonly tools: unknown;
  readonly contents: readonly { readonly parts: readonly object[] }[];
}

/** The Gemini API as a script: it makes these calls at once, and then it is done. */
async function scripted(...calls: readonly object[]) {
  const requests: Request[] = [];
  const server = createServer(async (request, response) => {
    requests.push((await json(request)) as Request);
    const parts = calls.map((args) => ({ functionCall: { name: 'bash', args } }));
    const content = { role: 'model', parts: requests.length === 1 ? parts : [{ text: 'done' }] };
    const body = JSON.stringify({ candidates: [{ content, finishReason: 'STOP', index: 0 }] });
    const streams = request.url?.includes('streamGenerateContent') ?? false;
    response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json');
    response.end(streams ? `data: ${body}\n\n` : body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const ai = new GoogleGenAI({ apiKey: 'none', vertexai: false, httpOptions: { baseUrl } });
  return { models: ai.models, requests, told: () => requests.at(-1)?.contents.at(-1)?.parts };
}

const ask = { model: 'scripted', contents: 'Go' };

test('a model reads what a command has printed; failures and wrong input are errors', async () => {
  const { models, requests, told } = await scripted(
    { command: 'echo hello' },
    { command: 'exit 3' },
    { command: 5 },
  );
  const tool = makeTool();
  const { text } = await models.generateContent({
    ...ask,
    config: { tools: [toCallableTool(tool)] },
  });
  expect(text).toBe('done');
  const { name, description, inputSchema } = tool;
  expect(requests[0]?.tools).toEqual([
    { functionDeclarations: [{ name, description, parametersJsonSchema: inputSchema }] },
  ]);
  expect(told()).toMatchObject([
    { functionResponse: { name: 'bash', response: { output: expect.stringMatching(/^hello\n/) } } },
    { functionResponse: { response: { error: expect.stringContaining('code 3') } } },
    { functionResponse: { response: { error: 'command: expected a string, got 5' } } },
  ]);
});

test('the loop may be streamed, and two calls at once get each their own answer', async () => {
  const { models, told } = await scripted({ command: 'echo a' }, { command: 'echo b' });
  const config = { tools: [toCallableTool(makeTool())] };
  let text = '';
  for await (const chunk of await models.generateContentStream({ ...ask, config }))
    text += chunk.text ?? '';
  expect(text).toBe('done');
  expect(told()).toMatchObject([
    { functionResponse: { response: { output: expect.stringMatching(/^a\n/) } } },
    { functionResponse: { response: { output: expect.stringMatching(/^b\n/) } } },
  ]);
});

test('an abort ends the command, and the loop', async () => {
  const controller = new AbortController();
  const { models } = await scripted({ command: `${longSleep(92)}; true` });
  const tools = [toCallableTool(makeTool(), { signal: controller.signal })];
  const running = failureOf(models.generateContent({ ...ask, config: { tools } }));
  await eventually(() => expect(sleeping(92)).toHaveLength(1));
  controller.abort();
  expect(await running).toBeInstanceOf(Error);
  expect(sleeping(92)).toEqual([]);
});

test('the model is told that a tool does not exist', async () => {
  const [part] = await toCallableTool(makeTool()).callTool([{ id: '1', name: 'nope', args: {} }]);
  expect(part?.functionResponse).toEqual({
    id: '1',
    name: 'nope',
    response: { error: 'There is no tool named nope.' },
  });
});
