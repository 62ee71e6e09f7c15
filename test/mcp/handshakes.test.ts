import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import type { McpEvent } from '../../src/mcp/index.js';
import { useFolder } from '../support/leftovers.js';
import { answerOf, type RawServer, useUnopenedServers } from '../support/mcp.js';
import { send, useServices } from '../support/mcp-http.js';
import { eventually } from '../support/processes.js';

const folder = useFolder();
const startUnopened = useUnopenedServers();
const services = useServices();

/** The part of a request by which a client of revision 2026-07-28 names itself, as Claude Code 2.1.332 sends it. */
const metaOf = (name: string) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': {
    name,
    title: 'Claude Code',
    version: '2.1.332',
    description: "Anthropic's agentic coding tool",
    websiteUrl: 'https://claude.com/claude-code',
  },
  'io.modelcontextprotocol/clientCapabilities': {
    roots: { listChanged: true },
    elicitation: { form: {}, url: {} },
  },
});

/** Opens a connection as clients of both revisions do. */
const handshakes = {
  async 'revision 2026-07-28'(name: string, ...args: readonly string[]) {
    const server = startUnopened('--contract', 'session', ...args);
    await server.request('server/discover', { _meta: metaOf(name) });
    return { server, more: { _meta: metaOf(name) } };
  },
  async 'revision 2025-11-25'(name: string, ...args: readonly string[]) {
    const server = startUnopened('--contract', 'session', ...args);
    await server.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {} },
      clientInfo: { name, version: '2.1.332' },
    });
    server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return { server, more: {} };
  },
} satisfies Record<
  string,
  (name: string, ...args: readonly string[]) => Promise<{ server: RawServer; more: object }>
>;

async function called(server: RawServer, command: string, more: object) {
  const id = server.call(command, { ...more });
  return (await server.expect((message) => message.id === id)).result ?? {};
}

test.each(Object.entries(handshakes))(
  'I5: Claude Code over standard input gets text alone, and is named in the log: %s',
  async (revision, open) => {
    const log = folder.file(`log of ${revision}`);
    const { server, more } = await open('claude-code', '--log', log);
    const { result = {} } = await server.request('tools/list', more);
    const tools = result.tools as Record<string, unknown>[];
    expect(tools.map(({ name }) => name)).toContain('task_output');
    for (const tool of tools) {
      expect(tool).not.toHaveProperty('outputSchema');
      expect(tool._meta).toMatchObject({ 'anthropic/maxResultSizeChars': 50_000 });
    }
    const answer = await called(server, 'echo "hi"', more);
    expect(answer).not.toHaveProperty('structuredContent');
    expect(answer.content).toEqual([{ type: 'text', text: 'hi' }]);
    await eventually(() => {
      const [first] = readFileSync(log, 'utf8').split('\n');
      expect(JSON.parse(first ?? '')).toMatchObject({
        event: 'connected',
        client: 'claude-code 2.1.332',
      });
    });
  },
);

test.each(Object.entries(handshakes))(
  'I5: the name decides how long an answer may be: %s',
  async (_revision, open) => {
    const lengths = [];
    for (const name of ['Visual Studio Code', 'somebody']) {
      const { server, more } = await open(name);
      const text = answerOf(await called(server, 'seq 4000', more));
      lengths.push(text.length);
      expect(text).toMatch(/^1\n2\n[\s\S]*\n3999\n4000$/);
    }
    expect(lengths[0]).toBeLessThan(8192);
    // All of it.
    expect(lengths[1]).toBe(2 * 9 + 3 * 90 + 4 * 900 + 5 * 3001 - 1);
  },
);

test.each(['auto', 'legacy'] as const)(
  'I5: over HTTP, names of clients are read in both handshakes: %s',
  async (mode) => {
    const events: McpEvent[] = [];
    const { url, token } = await services({ log: { write: (event) => void events.push(event) } });
    const client = new Client(
      { name: 'Visual Studio Code', version: '1.140.0' },
      { versionNegotiation: { mode } },
    );
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const { tools } = await client.listTools();
    expect(tools[0]?._meta).toMatchObject({ 'anthropic/maxResultSizeChars': 50_000 });
    const result = await client.callTool({ name: 'bash', arguments: { command: 'seq 9000' } });
    expect(result).not.toHaveProperty('structuredContent');
    expect(answerOf(result).length).toBeLessThan(8192);
    expect(answerOf(result)).toContain('characters left out here');
    await client.close();
    expect(events[0]).toMatchObject({ event: 'connected', client: 'Visual Studio Code 1.140.0' });
  },
);

test('I5: a request over HTTP that names its client is known by that', async () => {
  const events: McpEvent[] = [];
  const service = await services({ log: { write: (event) => void events.push(event) } });
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  };
  const opened = await send(service, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  const { body } = await send(service, {
    method: 'POST',
    headers: { ...headers, 'Mcp-Session-Id': String(opened.headers['mcp-session-id']) },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: {
        name: 'bash',
        arguments: { command: 'seq 9000' },
        _meta: { 'io.modelcontextprotocol/clientInfo': { name: 'Visual Studio Code' } },
      },
    }),
  });
  expect(body.length).toBeGreaterThan(7000);
  expect(body.length).toBeLessThan(11_000);
  expect(events[0]).toMatchObject({ event: 'connected', client: 'Visual Studio Code' });
});
