import { Agent } from '@earendil-works/pi-agent-core';
import {
  type AssistantMessage,
  createAssistantMessageEventStream,
  type Model,
} from '@earendil-works/pi-ai';
import { expect, test } from 'vitest';
import { toPiTools } from '../../../src/adapters/pi/index.js';
import { createBashTool } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...none, totalTokens: 0, cost: { ...none, total: 0 } };
const model = { id: 'm', api: 'scripted', provider: 'scripted' } as unknown as Model<string>;

/** An agent whose model makes these calls at once, and then says that it is done. */
function makeAgent(...inputs: readonly Record<string, string | number>[]): Agent {
  const calls = inputs.map((input, index) => {
    return { type: 'toolCall' as const, id: `call-${index}`, name: 'bash', arguments: input };
  });
  let turn = 0;
  const answer = (): AssistantMessage => {
    const isFirst = turn++ === 0;
    const content = isFirst ? calls : [{ type: 'text' as const, text: 'done' }];
    const stopReason = isFirst ? 'toolUse' : 'stop';
    const { id, api, provider } = model;
    return {
      role: 'assistant',
      content,
      api,
      provider,
      model: id,
      usage,
      stopReason,
      timestamp: 0,
    };
  };
  const bash = createBashTool({ contract: 'workspace', cwd: folder.path, graceMs: 500 });
  return new Agent({
    initialState: { systemPrompt: '', model, tools: toPiTools(keep(bash)) },
    streamFn: () => {
      const stream = createAssistantMessageEventStream();
      const message = answer();
      queueMicrotask(() => {
        stream.push({ type: 'start', partial: message });
        stream.push({
          type: 'done',
          reason: message.stopReason === 'stop' ? 'stop' : 'toolUse',
          message,
        });
      });
      return stream;
    },
  });
}

/** What the model was told of its calls. */
const toldTo = (agent: Agent) =>
  agent.state.messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []));

test('in its loop a model reads what is printed; failures and wrong input are errors', async () => {
  const agent = makeAgent({ command: 'echo hello' }, { command: 'exit 3' }, { nope: 1 });
  await agent.prompt('Go');
  expect(agent.state.messages.at(-1)).toMatchObject({ content: [{ text: 'done' }] });
  expect(toldTo(agent)).toMatchObject([
    {
      isError: false,
      content: [{ text: expect.stringMatching(/^hello\n/) }],
      details: { receipt: { outcome: { exitCode: 0 } } },
    },
    { isError: true, content: [{ text: expect.stringContaining('code 3') }] },
    { isError: true, content: [{ text: expect.stringContaining('command') }] },
  ]);
});

test('in its loop updates come while a command runs', async () => {
  const agent = makeAgent({ command: 'echo one; sleep 0.2; echo two' });
  const updates: unknown[] = [];
  agent.subscribe((event) => {
    if (event.type === 'tool_execution_update') updates.push(event.partialResult);
  });
  await agent.prompt('Go');
  expect(updates[0]).toMatchObject({ content: [{ type: 'text', text: 'one\n' }] });
});

test('its abort ends the command', async () => {
  const agent = makeAgent({ command: `${longSleep(94)}; true` });
  const running = agent.prompt('Go');
  await eventually(() => expect(sleeping(94)).toHaveLength(1));
  agent.abort();
  await running;
  expect(sleeping(94)).toEqual([]);
});

test('two calls at once get each their own answer', async () => {
  const agent = makeAgent({ command: 'echo a' }, { command: 'echo b' });
  await agent.prompt('Go');
  expect(toldTo(agent)).toMatchObject([
    { content: [{ text: expect.stringMatching(/^a\n/) }] },
    { content: [{ text: expect.stringMatching(/^b\n/) }] },
  ]);
});
