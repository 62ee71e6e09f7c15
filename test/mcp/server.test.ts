import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { afterEach, expect, test } from 'vitest';
import { type BashTool, type ObjectSchema, ToolAbortError, ToolError } from '../../src/index.js';
import { createMcpServer, type McpEvent, type McpOptions } from '../../src/mcp/index.js';
import { answerOf } from '../support/mcp.js';
import { toolOf } from '../support/mcp-tool.js';

const clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function connected(tool: BashTool, options?: McpOptions): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  await createMcpServer(tool, options).connect(ours);
  await client.connect(theirs);
  return client;
}

const outputSchema: ObjectSchema = {
  type: 'object',
  properties: { stdout: { type: 'string' }, exit_code: { type: 'integer' } },
  required: ['stdout', 'exit_code'],
  additionalProperties: false,
};

test('a tool with an output schema answers with text and with what the schema describes', async () => {
  const structured = { stdout: 'hi\n', exit_code: 3 };
  const content = [{ type: 'text' as const, text: 'hi\nexit code 3' }];
  const tool = toolOf('bash', async () => ({ content, structured }), { outputSchema });
  const client = await connected(tool, { structured: true });
  // With the list known, the client checks results against the schema, and throws if they differ.
  const { tools } = await client.listTools();
  expect(tools[0]?.outputSchema).toEqual(outputSchema);
  const result = await client.callTool({ name: 'bash', arguments: {} });
  expect(result).toMatchObject({ content, structuredContent: structured });
  expect(result).not.toHaveProperty('isError');
});

test('a client would notice results that do not fit the schema', async () => {
  const tool = toolOf('bash', async () => ({ structured: { stdout: 1 } }), { outputSchema });
  const client = await connected(tool, { structured: true });
  await client.listTools();
  await expect(client.callTool({ name: 'bash', arguments: {} })).rejects.toThrow();
});

test('an answer without any text says so: APIs of models refuse texts that are empty', async () => {
  const client = await connected(toolOf('bash', async () => ({})));
  const result = await client.callTool({ name: 'bash', arguments: {} });
  expect(result.content).toEqual([{ type: 'text', text: '(no output)' }]);
});

test('a failure needs no structured content', async () => {
  const fail = async () => {
    throw new ToolError('timedOut', 'so far\n\ntimed out');
  };
  const client = await connected(toolOf('bash', fail, { outputSchema }), { structured: true });
  await client.listTools();
  const result = await client.callTool({ name: 'bash', arguments: {} });
  expect(result).toMatchObject({ isError: true, content: [{ text: 'so far\n\ntimed out' }] });
  expect(result).not.toHaveProperty('structuredContent');
});

test('companions are listed and called, and a changing description is read anew', async () => {
  const output = toolOf('task_output', async () => ({ content: [{ type: 'text', text: 'late' }] }));
  let reads = 0;
  const bash = toolOf('bash', async () => ({}), { companions: [output] });
  Object.defineProperty(bash, 'description', { get: () => `read ${++reads} times` });
  const client = await connected(bash);
  const first = await client.listTools();
  const second = await client.listTools();
  expect(first.tools.map(({ title }) => title)).toEqual(['Bash', 'Task output']);
  expect(first.tools[0]?.description).not.toBe(second.tools[0]?.description);
  expect(answerOf(await client.callTool({ name: 'task_output', arguments: {} }))).toBe('late');
});

test('hints become annotations', async () => {
  const hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
  const client = await connected(toolOf('look', async () => ({}), { hints }));
  const { tools } = await client.listTools();
  expect(tools[0]?.annotations).toEqual({
    title: 'Look',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  });
});

test('the end of the connection aborts the calls under way', async () => {
  const aborted = new Promise<void>((resolve) => {
    const wait = toolOf('bash', (_input, { signal }) => {
      return new Promise((_answer, reject) => {
        signal?.addEventListener('abort', () => {
          resolve();
          reject(new ToolAbortError('cancelled'));
        });
      });
    });
    void connected(wait).then((client) => {
      client.callTool({ name: 'bash', arguments: {} }).catch(() => {});
      setTimeout(() => void client.close(), 50);
    });
  });
  await aborted;
});

test('the response waits for the progress before it, however slow that is', async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const deliver = ours.send.bind(ours);
  ours.send = async (message, options) => {
    if ('method' in message) await new Promise((resolve) => setTimeout(resolve, 50));
    await deliver(message, options);
  };
  const tool = toolOf('bash', async (_input, { onOutput }) => {
    for (const text of ['one ', 'two ', 'three']) {
      onOutput?.({ stream: 'stdout', text, droppedBytes: 0 });
    }
    return {};
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  await createMcpServer(tool).connect(ours);
  await client.connect(theirs);
  const heard: string[] = [];
  const onprogress = ({ message = '' }) => void heard.push(message);
  await client.callTool({ name: 'bash', arguments: {} }, { onprogress });
  expect(heard.join('')).toBe('one two three');
});

test('the log tells who came, what was called, and how it went', async () => {
  const events: McpEvent[] = [];
  const log = { write: (event: McpEvent) => void events.push(event) };
  const tool = toolOf('bash', async (input) => {
    const { command } = input as { command: string };
    if (command === 'wrong') throw new ToolError('input', 'command: wrong');
    if (command === 'fails') return { isError: true };
    return { content: [{ type: 'text', text: 'é' }] };
  });
  const client = await connected(tool, { log });
  for (const command of ['right', 'fails', 'wrong']) {
    await client.callTool({ name: 'bash', arguments: { command } });
  }
  await client.close();
  expect(events).toMatchObject([
    { event: 'connected', client: 'test 1.0.0' },
    { event: 'call', tool: 'bash', command: 'right' },
    { event: 'result', outcome: 'ok', bytes: 2 },
    { event: 'call', command: 'fails' },
    { event: 'result', outcome: 'failed' },
    { event: 'call', command: 'wrong' },
    { event: 'result', outcome: 'error', error: 'input' },
    { event: 'disconnected' },
  ]);
  expect(new Set(events.map(({ session }) => session)).size).toBe(1);
});
