import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  type StreamEvent,
  shellTool,
  type Tool,
  Usage,
} from '@openai/agents';
import { expect, test } from 'vitest';
import { createShell, toAgentTools } from '../../../src/adapters/openai/index.js';
import { type BashTool, createBashTool } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const makeTool = () => keep(createBashTool({ contract: 'modes', cwd: folder.path, graceMs: 500 }));

/** A model that makes these calls at once, and then says that it is done. */
class Scripted implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly calls: ModelResponse['output']) {}

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push({ ...request, input: structuredClone(request.input) });
    const done: ModelResponse['output'][number] = {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'done' }],
    };
    return { output: this.requests.length === 1 ? this.calls : [done], usage: new Usage() };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output } = await this.getResponse(request);
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: 'response_done', response: { id: 'r', usage, output } } as StreamEvent;
  }

  /** What it was told of its calls. */
  get told(): AgentInputItem[] {
    const { input } = this.requests.at(-1) ?? { input: [] };
    return typeof input === 'string'
      ? []
      : input.filter(({ type }) => type?.endsWith('_result') || type === 'shell_call_output');
  }
}

const callOf = (input: string, index: number): ModelResponse['output'][number] => ({
  type: 'function_call',
  callId: `call-${index}`,
  name: 'bash',
  arguments: input,
  status: 'completed',
});
const runner = new Runner({ tracingDisabled: true });

async function converse(tool: BashTool, ...inputs: readonly unknown[]) {
  const model = new Scripted(inputs.map((input, index) => callOf(JSON.stringify(input), index)));
  const agent = new Agent({ name: 'Test', model, tools: await toAgentTools(tool) });
  const { finalOutput } = await runner.run(agent, 'Go');
  expect(finalOutput).toBe('done');
  return model;
}

/** The texts of the answers. */
const textsTold = ({ told }: Scripted): unknown[] =>
  told
    .map((item) => (item.type === 'function_call_result' ? item.output : item))
    .map((output) => (typeof output === 'object' && 'text' in output ? output.text : output));

test('a model reads what a command has printed, a failure, and what is wrong with its input', async () => {
  const model = await converse(
    makeTool(),
    { command: 'echo hello' },
    { command: 'exit 3' },
    { command: 5 },
  );
  expect(textsTold(model)).toEqual([
    expect.stringMatching(/^hello/),
    expect.stringContaining('3'),
    'command: expected a string, got 5',
  ]);
});

test('an optional field is strict and nullable, and null counts as left out', async () => {
  const model = await converse(makeTool(), { command: 'echo hi', mode: null });
  expect(model.requests[0]?.tools).toMatchObject([
    {
      type: 'function',
      name: 'bash',
      strict: true,
      parameters: {
        properties: {
          command: { type: 'string' },
          mode: { type: ['string', 'null'], enum: ['default', 'slow', 'background', null] },
        },
        required: ['command', 'mode'],
        additionalProperties: false,
      },
    },
  ]);
  expect(textsTold(model)).toEqual([expect.stringMatching(/^hi/)]);
});

test('a schema with free names is not strict, and as it is', async () => {
  const tool = keep(createBashTool({ contract: 'workspace', cwd: folder.path, async: true }));
  const [bash, job] = await toAgentTools(tool);
  expect(bash).toMatchObject({ strict: false, parameters: tool.inputSchema });
  expect(job).toMatchObject({ name: 'job', strict: true });
});

test('input that is no JSON is told, and the loop goes on', async () => {
  const model = new Scripted([callOf('{"command":', 0)]);
  const agent = new Agent({ name: 'Test', model, tools: await toAgentTools(makeTool()) });
  expect((await runner.run(agent, 'Go')).finalOutput).toBe('done');
  expect(textsTold(model)).toEqual([expect.stringMatching(/JSON/)]);
});

test('an abort ends the command, and the loop', async () => {
  const controller = new AbortController();
  const model = new Scripted([callOf(JSON.stringify({ command: `${longSleep(83)}; true` }), 0)]);
  const agent = new Agent({ name: 'Test', model, tools: await toAgentTools(makeTool()) });
  const running = failureOf(runner.run(agent, 'Go', { signal: controller.signal }));
  await eventually(() => expect(sleeping(83)).toHaveLength(1));
  controller.abort();
  expect(await running).toBeInstanceOf(Error);
  await eventually(() => expect(sleeping(83)).toEqual([]));
});

test('the loop may be streamed, and two calls at once get each their own answer', async () => {
  const calls = ['a', 'b'].map((name, index) =>
    callOf(JSON.stringify({ command: `echo ${name}` }), index),
  );
  const model = new Scripted(calls);
  const agent = new Agent({ name: 'Test', model, tools: await toAgentTools(makeTool()) });
  const result = await runner.run(agent, 'Go', { stream: true });
  const names: string[] = [];
  for await (const event of result)
    if (event.type === 'run_item_stream_event') names.push(event.name);
  expect(names.filter((name) => name === 'tool_output')).toHaveLength(2);
  expect(textsTold(model)).toEqual([expect.stringMatching(/^a/), expect.stringMatching(/^b/)]);
});

test("the shell answers the SDK's own shell tool", async () => {
  const shell = keep(createShell({ cwd: folder.path, graceMs: 500 }));
  const commands = ['echo out; echo err >&2; exit 3', 'pwd'];
  const model = new Scripted([
    { type: 'shell_call', callId: 'call-0', status: 'completed', action: { commands } },
  ]);
  const tools: Tool[] = [shellTool({ shell })];
  expect((await runner.run(new Agent({ name: 'Test', model, tools }), 'Go')).finalOutput).toBe(
    'done',
  );
  expect(model.told).toMatchObject([
    {
      type: 'shell_call_output',
      callId: 'call-0',
      output: [
        { stdout: 'out\n', stderr: 'err\n', outcome: { type: 'exit', exitCode: 3 } },
        { stdout: `${folder.path}\n`, stderr: '', outcome: { type: 'exit', exitCode: 0 } },
      ],
    },
  ]);
});
