import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { afterEach, expect, test } from 'vitest';
import { createBashTool } from '../../src/index.js';
import { createMcpServer } from '../../src/mcp/index.js';
import { answerOf } from '../support/mcp.js';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function connected(clientName: string, structured?: boolean): Promise<Client> {
  const tool = createBashTool({ contract: 'session', cwd: '/', graceMs: 200 });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await createMcpServer(tool, { structured }).connect(ours);
  const client = new Client({ name: clientName, version: '1.0.0' });
  open.push({ [Symbol.asyncDispose]: () => tool.dispose() });
  open.push({ [Symbol.asyncDispose]: () => client.close() });
  await client.connect(theirs);
  return client;
}

test.each([
  ['test', undefined, false],
  ['claude-code', undefined, false],
  ['codex-mcp-client', undefined, false],
  ['claude-code', true, true],
  ['test', true, true],
  ['test', false, false],
] as const)(
  'I5: for %s, with structured: %s, structure is given: %s',
  async (name, structured, given) => {
    const client = await connected(name, structured);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => 'outputSchema' in tool)).toEqual(tools.map(() => given));
    const result = await client.callTool({ name: 'bash', arguments: { command: 'echo hi' } });
    expect('structuredContent' in result).toBe(given);
    expect(answerOf(result)).toContain('hi');
  },
);

test('B24: text and structure say the same of a timeout', async () => {
  const client = await connected('test', true);
  const input = { command: 'echo a; sleep 30', timeout: 300 };
  const result = await client.callTool({ name: 'bash', arguments: input });
  const { stdout, timed_out, notices } = result.structuredContent as Record<string, unknown>;
  expect({ stdout, timed_out }).toEqual({ stdout: 'a\n', timed_out: true });
  const [notice] = notices as string[];
  expect(notice).toContain('0.3 seconds');
  expect(answerOf(result)).toContain(notice);
});
