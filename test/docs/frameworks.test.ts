import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { type Model, type ModelResponse, setTracingDisabled, Usage } from '@openai/agents';
import { MockLanguageModelV3 } from 'ai/test';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/frameworks.md'), 'utf8');

/** The examples by their headings, but for the first, which has no framework. */
const examples = [...page.matchAll(/^### (.+?)\n(?:(?!^###).)*?^```ts\n(.*?)^```$/gms)].map(
  ([, heading = '', example = '']) => ({ heading, example }),
);

const command = 'echo ran >ran';
/** What each API answers: a call of the tool, and the end. */
const anthropic = [
  [{ type: 'tool_use', id: 'call', name: 'bash', input: { command } }],
  [{ type: 'text', text: 'done' }],
].map((content, index) => ({
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', content },
  stop_reason: ['tool_use', 'end_turn'][index],
  usage: { input_tokens: 1, output_tokens: 1 },
}));
const openai = [
  [{ type: 'shell_call', id: 'c', call_id: 'c', action: { commands: [command] } }],
  [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }],
].map((output) => ({ object: 'response', output }));
const gemini = [{ functionCall: { name: 'bash', args: { command } } }, { text: 'done' }].map(
  (part) => ({ candidates: [{ content: { role: 'model', parts: [part] } }] }),
);

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const call = {
  type: 'tool-call',
  toolCallId: 'c',
  toolName: 'bash',
  input: JSON.stringify({ command }),
} as const;
const aiModel = new MockLanguageModelV3({
  doGenerate: [
    { content: [call], finishReason: { unified: 'tool-calls', raw: '' }, usage, warnings: [] },
    {
      ...{ content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: '' } },
      ...{ usage, warnings: [] },
    },
  ],
});

/** A model of the Agents SDK. */
class AgentModel implements Model {
  readonly #outputs: ModelResponse['output'][] = [
    [
      {
        type: 'function_call',
        callId: 'c',
        name: 'bash',
        arguments: call.input,
        status: 'completed',
      },
    ],
    [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'done' }],
      },
    ],
  ];

  async getResponse(): Promise<ModelResponse> {
    return { output: this.#outputs.shift() ?? [], usage: new Usage() };
  }

  getStreamedResponse(): never {
    throw new Error('the example does not stream');
  }
}

/** By the heading: the model, or what the API answers, and what the example prints. */
const surroundings: Readonly<
  Record<string, { model?: object; replies?: object[]; prints?: unknown }>
> = {
  'AI SDK': { model: aiModel },
  LangChain: {
    model: fakeModel()
      .respondWithTools([{ name: 'bash', args: { command }, id: 'c' }])
      .respond(new AIMessage('done')),
  },
  "OpenAI's Agents SDK": { model: new AgentModel() },
  "OpenAI's Responses API": { replies: openai },
  "Anthropic's SDK": { replies: anthropic },
  'Claude Agent SDK': { prints: ['forkline'] },
  'Google GenAI': { replies: gemini },
  'Agent Client Protocol': { prints: 'function' },
  'An MCP server of yours': { prints: false },
  pi: { prints: 'done' },
  'bash-tool': { prints: 'done' },
  Mastra: { prints: 'done' },
  opencode: { prints: '{"stdout":"","stderr":"","exitCode":0}' },
};

/** What tests need of an example's own objects. */
const after: Readonly<Record<string, string>> = { 'bash-tool': 'export { sandbox };\n' };

mkdirSync(join(root, 'examples/build'), { recursive: true });
const folder = mkdtempSync(join(root, 'examples/build/frameworks-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

beforeAll(() => {
  setTracingDisabled(true);
  const type = '{ surroundings: { cwd: string; model: never } }';
  for (const [index, { heading, example }] of examples.entries()) {
    const before = `const { cwd, model } = (globalThis as unknown as ${type}).surroundings;\n`;
    writeFileSync(
      join(folder, `${index}.ts`),
      `${before}void [cwd, model];\n${example}${after[heading] ?? ''}`,
    );
  }
  const config = {
    extends: '../../../tsconfig.json',
    compilerOptions: { rootDir: '.', outDir: 'out' },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include: ['.'] }));
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { stdio: ['ignore', 2, 2] });
}, 60_000);

/** An API on loopback that answers each request with the next of these. */
async function serving(replies: readonly object[]): Promise<string> {
  const left = [...replies];
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(left.shift()));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('each example has its surroundings here, and its row in the table', () => {
  expect(examples.map(({ heading }) => heading)).toEqual(Object.keys(surroundings));
  const rows = [...page.matchAll(/^\| \[(.+?)\]\(#/gm)].map(([, row = '']) => row.toLowerCase());
  expect(rows).toEqual(Object.keys(surroundings).map((heading) => heading.toLowerCase()));
});

test.each(Object.keys(surroundings))(
  'the example of %s runs, and says what it should',
  async (heading) => {
    const index = examples.findIndex((example) => example.heading === heading);
    const { model, replies, prints = 'done' } = surroundings[heading] ?? {};
    const cwd = mkdtempSync(join(folder, 'cwd-'));
    const url = replies && (await serving(replies));
    for (const name of ['ANTHROPIC', 'OPENAI', 'GOOGLE']) vi.stubEnv(`${name}_API_KEY`, 'none');
    for (const name of ['ANTHROPIC', 'OPENAI', 'GOOGLE_GEMINI'])
      vi.stubEnv(`${name}_BASE_URL`, url ?? '');
    vi.stubGlobal('surroundings', { cwd, model });
    const printed: unknown[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((value) => void printed.push(value));
    await import(/* @vite-ignore */ pathToFileURL(join(folder, 'out', `${index}.js`)).href);
    log.mockRestore();
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    const lines = printed.map((each) => (typeof each === 'string' ? each.split('\n')[0] : each));
    expect(lines).toEqual([prints]);
    if (model !== undefined || replies !== undefined) {
      expect(readFileSync(join(cwd, 'ran'), 'utf8')).toBe('ran\n');
    }
  },
);

test('I13: bash-tool cuts nothing of what its example answers, which says how much is missing', async () => {
  const index = examples.findIndex(({ heading }) => heading === 'bash-tool');
  vi.stubGlobal('surroundings', { cwd: folder });
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const url = pathToFileURL(join(folder, 'out', `${index}.js`));
  const { sandbox } = await import(/* @vite-ignore */ `${url.href}?again`);
  log.mockRestore();
  vi.unstubAllGlobals();
  const command = 'seq 1000000; yes é | head -n 50000 >&2; exit 3';
  const { stdout, stderr, exitCode } = await sandbox.executeCommand(command);
  expect(exitCode).toBe(3);
  // Its default: of a longer text it counts the characters that it has cut itself.
  expect(stdout.length).toBeLessThanOrEqual(30_000);
  expect(stderr.length).toBeLessThanOrEqual(30_000);
  expect(stdout).toMatch(/^1\n2\n.*\n\[… 6\.5MB, 99\d,\d{3} lines, not shown …\]\n.*\n1000000\n$/s);
  expect(stderr).toMatch(/^(?:é\n)+\[… 119\.1KB, 40,66\d lines, not shown …\]\n\n?(?:é\n)+$/);
});
