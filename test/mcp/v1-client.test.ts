import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, expect, test } from 'vitest';
import { createBashTool } from '../../src/index.js';
import { type HttpService, serveHttp } from '../../src/mcp/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { answerOf, bearer, mcpArguments, toldOf } from '../support/mcp.js';
import { eventually } from '../support/processes.js';

let client: Client;
let service: HttpService | undefined;
afterEach(async () => {
  await client.close();
  await service?.close();
  service = undefined;
});

async function connect(how: 'stdio' | 'http'): Promise<void> {
  client = new Client({ name: 'v1', version: '1.0.0' });
  await client.connect(how === 'stdio' ? stdio() : await http());
}

function stdio(): Transport {
  return new StdioClientTransport({
    command: process.execPath,
    args: mcpArguments(),
    stderr: 'ignore',
  });
}

async function http(): Promise<Transport> {
  service = await serveHttp(() => createBashTool({ contract: 'workspace', cwd: '/' }));
  const { url, token } = service;
  const requestInit = { headers: bearer(token) };
  // Its types were written without exact optional properties.
  return new StreamableHTTPClientTransport(new URL(url), { requestInit }) as Transport;
}

test.each(['stdio', 'http'] as const)(
  'version 1 of the official client calls (%s)',
  async (how) => {
    await connect(how);
    const { tools } = await client.listTools();
    // Over stdio it is the command's server, whose long calls become jobs.
    expect(tools.map(({ name }) => name)).toEqual(how === 'stdio' ? ['bash', 'job'] : ['bash']);
    const notes: string[] = [];
    const result = await client.callTool(
      { name: 'bash', arguments: { command: 'echo one; sleep 0.3; echo two' } },
      undefined,
      { onprogress: ({ message = '' }) => notes.push(message) },
    );
    expect(answerOf(result)).toMatch(/^one\ntwo\n/);
    expect(toldOf(['one\n', 'two\n'])).toContainEqual(notes);
  },
);

test.each(['stdio', 'http'] as const)('version 1 cancels (%s)', async (how) => {
  await connect(how);
  const controller = new AbortController();
  const call = client.callTool(
    { name: 'bash', arguments: { command: longSleep(621) } },
    undefined,
    { signal: controller.signal },
  );
  await eventually(() => expect(sleeping(621)).toHaveLength(1));
  controller.abort();
  await expect(call).rejects.toThrow();
  await eventually(() => expect(sleeping(621)).toEqual([]));
  await client.ping();
});

test.each(['stdio', 'http'] as const)(
  'I6: version 1 gets text alone, and no more than a client shows (%s)',
  async (how) => {
    await connect(how);
    const { tools } = await client.listTools();
    for (const tool of tools) {
      expect(tool).not.toHaveProperty('outputSchema');
      expect(tool._meta).toEqual({ 'anthropic/maxResultSizeChars': 50_000 });
    }
    const result = await client.callTool({ name: 'bash', arguments: { command: 'seq 20000' } });
    expect(result).not.toHaveProperty('structuredContent');
    expect(answerOf(result).length).toBeLessThan(36_001);
    expect(answerOf(result)).toMatch(
      /\n20000\n\n\[Showing lines [\s\S]*Wall time: [\d.]+ seconds$/,
    );
  },
);
