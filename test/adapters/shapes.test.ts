import type Anthropic from '@anthropic-ai/sdk';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import type OpenAI from 'openai';
import { toStrictJsonSchema } from 'openai/lib/transform';
import { afterEach, describe, expect, test } from 'vitest';
import {
  fitsStrictMode,
  TOOL_FORMAT_NAMES,
  TOOL_FORMATS,
  toAnthropicTool,
  toMcpTool,
  toOpenAiResponsesTool,
  toOpenAiTool,
  toolsOf,
} from '../../src/adapters/index.js';
import { strictSchema } from '../../src/adapters/openai-strict.js';
import {
  type BashTool,
  type BashToolOptions,
  CONTRACT_NAMES,
  createBashTool,
} from '../../src/index.js';

const made: BashTool[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((tool) => tool.dispose()));
});

function makeTool(options: Record<string, unknown>): BashTool {
  const tool: BashTool = createBashTool({ cwd: '/', ...options } as BashToolOptions);
  made.push(tool);
  return tool;
}

/** Every tool that there is, with all that can be turned on turned on. */
const everyTool = () =>
  CONTRACT_NAMES.flatMap((contract) =>
    toolsOf(makeTool({ contract, ...(contract === 'workspace' && { async: true }) })),
  );

test('a tool comes before its companions, and each name once', () => {
  const tool = makeTool({ contract: 'workspace', async: true });
  expect(toolsOf(tool).map(({ name }) => name)).toEqual(['bash', 'job']);
  const around: BashTool = { ...tool, companions: [tool, ...tool.companions, tool] };
  expect(toolsOf(around).map(({ name }) => name)).toEqual(['bash', 'job']);
});

test('Anthropic: name, description, input_schema', () => {
  for (const tool of everyTool()) {
    const definition: Anthropic.Tool = toAnthropicTool(tool);
    expect(definition).toEqual({
      name: tool.name,
      description: tool.description,
      input_schema: tool.inputSchema,
    });
    expect(definition.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  }
});

test('OpenAI Chat Completions: a function with parameters and strict', () => {
  for (const tool of everyTool()) {
    const definition: OpenAI.Chat.ChatCompletionFunctionTool = toOpenAiTool(tool);
    expect(definition).toEqual({
      type: 'function',
      function: {
        name: tool.name,
        description: tool.description,
        parameters: tool.inputSchema,
        strict: fitsStrictMode(tool.inputSchema),
      },
    });
    expect(definition.function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  }
});

test('OpenAI Responses: the same on one level', () => {
  for (const tool of everyTool()) {
    const definition: OpenAI.Responses.FunctionTool = toOpenAiResponsesTool(tool);
    expect(definition).toEqual({ type: 'function', ...toOpenAiTool(tool).function });
  }
});

test('MCP: what the official SDK reads as a tool, with nothing left over', () => {
  for (const tool of everyTool()) {
    const definition = toMcpTool(tool);
    expect(ToolSchema.parse(definition)).toEqual(definition);
    expect(definition).toMatchObject({ name: tool.name, inputSchema: tool.inputSchema });
    expect(definition.outputSchema).toEqual(tool.outputSchema);
    expect(definition.annotations.readOnlyHint).toBe(tool.hints.readOnly);
  }
});

test('an MCP title is made of the name', () => {
  const tool = makeTool({ contract: 'plain' });
  expect(toMcpTool({ ...tool, name: 'task_output' })).toMatchObject({
    title: 'Task output',
    annotations: { title: 'Task output' },
  });
});

test('every format is one of JSON', () => {
  expect(TOOL_FORMAT_NAMES).toEqual(['anthropic', 'openai', 'openai-responses', 'mcp']);
  for (const tool of everyTool()) {
    for (const format of TOOL_FORMAT_NAMES) {
      const definition = TOOL_FORMATS[format](tool);
      expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
    }
  }
});

describe("OpenAI's strict mode", () => {
  test('is on for plain, and off where a field is optional', () => {
    const strict = (options: Record<string, unknown>) =>
      toolsOf(makeTool(options)).map((tool) => toOpenAiTool(tool).function.strict);
    expect(strict({ contract: 'plain' })).toEqual([true]);
    expect(strict({ contract: 'workspace', async: true })).toEqual([false, false]);
  });

  test('takes the schemas of all tools but workspace, whose names of variables are free', () => {
    for (const tool of everyTool()) {
      const strict = strictSchema(tool.inputSchema);
      if ('env' in tool.inputSchema.properties) {
        expect(strict).toBeUndefined();
        continue;
      }
      expect(fitsStrictMode(strict)).toBe(true);
      expect(toStrictJsonSchema(structuredClone({ ...strict }))).toEqual(strict);
    }
  });

  test('reads null in such a schema as left out', async () => {
    const tool = makeTool({ contract: 'session', cwd: '/' });
    const nulls = Object.keys(tool.inputSchema.properties).map((name) => [name, null]);
    const input = { ...Object.fromEntries(nulls), command: 'echo hi' };
    expect(await tool.answer(input)).toMatchObject({ isError: false, text: 'hi' });
  });

  test('reads null as left out within a field, too', async () => {
    const tool = makeTool({ contract: 'workspace', cwd: '/', async: true });
    await tool.execute({ command: 'read -r x; echo "got $x"', async: true, stdin: true });
    const [job] = tool.companions;
    const write = { id: 'bg_1', text: 'it\n', keys: null, columns: null, rows: null };
    const answer = await job?.answer({ write, poll: null, list: null, line: 'got it' });
    expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('got it') });
  });

  test("OpenAI's own SDK has nothing to change about a schema for which it is on", () => {
    for (const { inputSchema } of everyTool()) {
      if (!fitsStrictMode(inputSchema)) continue;
      expect(toStrictJsonSchema(structuredClone({ ...inputSchema }))).toEqual(inputSchema);
    }
  });

  const closed = { type: 'object', additionalProperties: false };
  const text = { type: 'string' };

  test.each([
    [{ ...closed, properties: { a: text }, required: ['a'] }],
    [{ ...closed, properties: {}, required: [] }],
    [{ ...closed, properties: { a: { type: ['string', 'null'] } }, required: ['a'] }],
    [{ ...closed, properties: { a: { type: 'array', items: text } }, required: ['a'] }],
    [{ ...closed, properties: { a: { anyOf: [text, { type: 'null' }] } }, required: ['a'] }],
    [{ ...closed, properties: { a: { ...text, enum: ['x'] } }, required: ['a'] }],
  ])('takes %j', (schema) => {
    expect(fitsStrictMode(schema)).toBe(true);
  });

  const open = { type: 'object', properties: { b: text }, required: ['b'] };

  test.each([
    ['an optional field', { ...closed, properties: { a: text }, required: [] }],
    ['no list of required fields', { ...closed, properties: { a: text } }],
    ['an open object', open],
    ['a map', { ...closed, properties: { a: { ...closed, additionalProperties: text } } }],
    ['an open object in a field', { ...closed, properties: { a: open }, required: ['a'] }],
    [
      'an open object in a list',
      { ...closed, properties: { a: { type: 'array', items: open } }, required: ['a'] },
    ],
    [
      'an open object in a choice',
      { ...closed, properties: { a: { anyOf: [text, open] } }, required: ['a'] },
    ],
    [
      'an open object that may be null',
      { ...closed, properties: { a: { ...open, type: ['object', 'null'] } }, required: ['a'] },
    ],
    ['a choice at the root', { ...closed, properties: {}, required: [], anyOf: [] }],
    ['another type at the root', { type: 'string' }],
    ['a keyword that is not taken', { ...closed, properties: {}, allOf: [] }],
    ['a keyword that is not taken in a field', { ...closed, properties: { a: { not: text } } }],
    ['no schema', true],
  ])('does not take %s', (_, schema) => {
    expect(fitsStrictMode(schema)).toBe(false);
  });
});
