import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { expect, test } from 'vitest';
import { inProcessServer } from '../../../src/adapters/anthropic/index.js';
import { createBashTool } from '../../../src/index.js';
import { createMcpServer } from '../../../src/mcp/index.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

test('a server in the process answers what the Claude Agent SDK connects to it', async () => {
  const bash = keep(createBashTool({ contract: 'session', cwd: folder.path }));
  const { type, name, instance } = inProcessServer(createMcpServer(bash), 'shell');
  expect({ type, name }).toEqual({ type: 'sdk', name: 'shell' });
  // As that SDK does, with a transport of the MCP SDK in its first version.
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  const server: { connect(transport: InMemoryTransport): Promise<void> } = instance;
  await server.connect(ours);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(theirs);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual([
    'bash',
    'task_output',
    'write_task',
    'kill_task',
    'list_tasks',
  ]);
  const results = await Promise.all(
    ['echo a', 'exit 3', ''].map((command) =>
      client.callTool({ name: 'bash', arguments: { command } }),
    ),
  );
  expect(results.map(({ isError = false }) => isError)).toEqual([false, false, true]);
  expect(results[0]?.content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^a/) }]);
  await client.close();
});
