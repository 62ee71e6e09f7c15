import * as six from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import * as seven from 'ai-7';
import { describe, expect, test } from 'vitest';
import { type AiToolOutput, toAiTools } from '../../../src/adapters/ai-sdk/index.js';
import { type BashTool, createBashTool } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const makeTool = () =>
  keep(createBashTool({ contract: 'workspace', cwd: folder.path, async: true, graceMs: 500 }));

type Result = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type Part =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Each>
    ? Each
    : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const stops = { unified: 'stop', raw: 'stop' } as const;
const calls = { unified: 'tool-calls', raw: 'tool_calls' } as const;

/** A model that makes these calls at once, and then says that it is done. */
function scripted(...inputs: readonly unknown[]): MockLanguageModelV3 {
  const wanted = inputs.map((input, index) => ({
    type: 'tool-call' as const,
    toolCallId: `call-${index}`,
    toolName: 'bash',
    input: JSON.stringify(input),
  }));
  let turn = 0;
  const isFirst = (): boolean => turn++ === 0;
  return new MockLanguageModelV3({
    doGenerate: async (): Promise<Result> =>
      isFirst()
        ? { content: wanted, finishReason: calls, usage, warnings: [] }
        : { content: [{ type: 'text', text: 'done' }], finishReason: stops, usage, warnings: [] },
    doStream: async () => {
      const parts: Part[] = isFirst()
        ? [...wanted, { type: 'finish', finishReason: calls, usage }]
        : [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'done' },
            { type: 'text-end', id: '1' },
            { type: 'finish', finishReason: stops, usage },
          ];
      return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...parts]) };
    },
  });
}

/** What the model was told of its calls. */
function toldTo(model: MockLanguageModelV3): unknown[] {
  const prompts = [...model.doGenerateCalls, ...model.doStreamCalls].map(({ prompt }) => prompt);
  return (prompts.at(-1) ?? []).flatMap(({ role, content }) =>
    role === 'tool' ? content.map((part) => ('output' in part ? part.output : part)) : [],
  );
}

// The second's types know more than the first's; what is used here is the same in both.
const versions = { 6: six, 7: seven as unknown as typeof six };

describe.each([6, 7] as const)('in the loop of AI SDK %i', (version) => {
  const { generateText, streamText, stepCountIs } = versions[version];
  const converse = async (tool: BashTool, ...inputs: readonly unknown[]) => {
    const model = scripted(...inputs);
    const stopWhen = stepCountIs(3);
    const { text } = await generateText({ model, prompt: 'Go', tools: toAiTools(tool), stopWhen });
    expect(text).toBe('done');
    return { model, told: toldTo(model) };
  };

  test('a model is given the schemas of a tool and of its companions as they are', async () => {
    const tool = makeTool();
    const { model } = await converse(tool, { command: 'true' });
    expect(model.doGenerateCalls[0]?.tools).toMatchObject(
      [tool, ...tool.companions].map(({ name, description, inputSchema }) => {
        return { type: 'function', name, description, inputSchema };
      }),
    );
  });

  test('a model reads what a command has printed, and a failure as an error', async () => {
    const { told } = await converse(makeTool(), { command: 'echo hello' }, { command: 'exit 3' });
    expect(told).toMatchObject([
      { type: 'text', value: expect.stringMatching(/^hello\n/) },
      { type: 'error-text', value: expect.stringContaining('Command exited with code 3') },
    ]);
  });

  test('a model reads what is wrong with its input in the words of the tool', async () => {
    const { told } = await converse(makeTool(), { command: 5 }, { command: 'ls', nope: 1 });
    expect(told).toMatchObject([
      { type: 'error-text', value: 'command: expected a string, got 5' },
      { type: 'error-text', value: expect.stringContaining('nope: not known') },
    ]);
  });

  test('an abort ends the command, and the loop', async () => {
    const controller = new AbortController();
    const running = generateText({
      model: scripted({ command: `${longSleep(81)}; true` }),
      prompt: 'Go',
      tools: toAiTools(makeTool()),
      stopWhen: stepCountIs(3),
      abortSignal: controller.signal,
    }).then(
      () => 'ended',
      () => 'rejected',
    );
    await eventually(() => expect(sleeping(81)).toHaveLength(1));
    controller.abort();
    expect(await running).toBe('rejected');
    await eventually(() => expect(sleeping(81)).toEqual([]));
  });

  test('output so far comes as preliminary results, and the answer as the last one', async () => {
    const { fullStream } = streamText({
      model: scripted({ command: 'echo one; sleep 0.3; echo two' }),
      prompt: 'Go',
      tools: toAiTools(makeTool(), { stream: true }),
      stopWhen: stepCountIs(3),
    });
    const results: { text: string; preliminary: boolean }[] = [];
    for await (const part of fullStream) {
      if (part.type !== 'tool-result') continue;
      const { text } = part.output as AiToolOutput;
      results.push({ text, preliminary: part.preliminary ?? false });
    }
    expect(results[0]).toEqual({ text: 'one\n', preliminary: true });
    expect(results.at(-1)).toEqual({
      text: expect.stringMatching(/^one\ntwo\n\nWall time/),
      preliminary: false,
    });
  });

  test('two calls at once get each their own answer', async () => {
    const { told } = await converse(makeTool(), { command: 'echo a' }, { command: 'echo b' });
    expect(told).toMatchObject([
      { value: expect.stringMatching(/^a\n/) },
      { value: expect.stringMatching(/^b\n/) },
    ]);
  });
});

test('the tools are tools for the compiler, too', () => {
  const tools: six.ToolSet & seven.ToolSet = toAiTools(makeTool());
  expect(Object.keys(tools)).toEqual(['bash', 'job']);
});

test('the schema of a tool is one that the AI SDK takes by itself', async () => {
  const bash = makeTool();
  const tool = six.tool({
    inputSchema: bash.schema,
    execute: async ({ command }) => command.length,
  });
  const model = scripted({ command: 'echo' });
  await six.generateText({
    model,
    prompt: 'Go',
    tools: { bash: tool },
    stopWhen: six.stepCountIs(3),
  });
  expect(toldTo(model)).toEqual([{ type: 'json', value: 4 }]);
});
