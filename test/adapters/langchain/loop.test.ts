import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { createAgent } from 'langchain';
import { expect, test } from 'vitest';
import { toLangChainTools } from '../../../src/adapters/langchain/index.js';
import { type BashTool, createBashTool } from '../../../src/index.js';
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

/** A model that makes these calls at once, and then says that it is done. */
const scripted = (...inputs: readonly Record<string, unknown>[]) =>
  fakeModel()
    .respondWithTools(inputs.map((args, index) => ({ name: 'bash', args, id: `call-${index}` })))
    .respond(new AIMessage('done'));

const go = { messages: [{ role: 'user', content: 'Go' }] };

/** What the model was told of its calls. */
async function converse(tool: BashTool, ...inputs: readonly Record<string, unknown>[]) {
  const agent = createAgent({ model: scripted(...inputs), tools: toLangChainTools(tool) });
  const messages: readonly BaseMessage[] = (await agent.invoke(go)).messages;
  expect(messages.at(-1)?.text).toBe('done');
  return messages.filter((message) => ToolMessage.isInstance(message));
}

test('a model reads what a command has printed; the runtime has its details', async () => {
  const [told] = await converse(makeTool(), { command: 'echo hello' });
  expect(told).toMatchObject({
    name: 'bash',
    status: 'success',
    tool_call_id: 'call-0',
    content: expect.stringMatching(/^hello\n/),
    artifact: { receipt: { outcome: { kind: 'exited', exitCode: 0 } } },
  });
});

test('a model reads a failure, and what is wrong with its input, as errors', async () => {
  const told = await converse(makeTool(), { command: 'exit 3' }, { command: 5 });
  expect(told).toMatchObject([
    { status: 'error', content: expect.stringContaining('Command exited with code 3') },
    { status: 'error', content: 'command: expected a string, got 5' },
  ]);
});

test('two calls at once get each their own answer', async () => {
  const told = await converse(makeTool(), { command: 'echo a' }, { command: 'echo b' });
  expect(told.map(({ text }) => text[0])).toEqual(['a', 'b']);
});

test('an abort ends the command, and the loop', async () => {
  const controller = new AbortController();
  const model = scripted({ command: `${longSleep(82)}; true` });
  const agent = createAgent({ model, tools: toLangChainTools(makeTool()) });
  const running = failureOf(agent.invoke(go, { signal: controller.signal }));
  await eventually(() => expect(sleeping(82)).toHaveLength(1));
  controller.abort();
  expect(await running).toBeInstanceOf(Error);
  await eventually(() => expect(sleeping(82)).toEqual([]));
});

test('output comes as events of the tool while the command runs', async () => {
  const model = scripted({ command: 'echo one; sleep 0.3; echo two' });
  const agent = createAgent({ model, tools: toLangChainTools(makeTool(), { stream: true }) });
  const texts: unknown[] = [];
  for await (const event of await agent.stream(go, { streamMode: 'tools' })) {
    if (event.event === 'on_tool_event') texts.push(event.data);
    if (event.event === 'on_tool_end') texts.push(event.output);
  }
  expect(texts).toMatchObject([
    { text: 'one\n', tail: 'one\n' },
    { text: 'two\n' },
    { status: 'success', content: expect.stringMatching(/^one\ntwo\n/) },
  ]);
});

test('a tool that is invoked with an input alone gives the text alone', async () => {
  for (const stream of [false, true]) {
    const [bash] = toLangChainTools(makeTool(), { stream });
    expect(await bash?.invoke({ command: 'echo alone' })).toMatch(/^alone\n/);
  }
});

test('a model is given the schemas of a tool and of its companions as they are', () => {
  const tool = keep(createBashTool({ contract: 'session', cwd: folder.path }));
  const told = toLangChainTools(tool).map((each) => convertToOpenAITool(each));
  expect(told).toEqual(
    [tool, ...tool.companions].map(({ name, description, inputSchema }) => {
      return { type: 'function', function: { name, description, parameters: inputSchema } };
    }),
  );
});
