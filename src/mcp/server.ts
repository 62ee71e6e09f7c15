import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { type McpTool, toMcpTool, toolsOf } from '../adapters/index.js';
import type { BashTool } from '../index.js';
import { packageVersion } from '../support/package/version.js';
import { refused } from '../support/timing.js';
import { type CallContext, callTool, type Delivery } from './call/call.js';
import type { McpOptions } from './options.js';
import { logTasks } from './task-log.js';

const INSTRUCTIONS = [
  "Runs shell commands on the user's machine, with the rights of the user who started the server.",
  'Commands read an empty standard input. Cancelling a request ends its command; when the client',
  'goes away, everything that it started ends.',
].join(' ');

/**
 * Makes the SDK's server, with a tool and its companions. Its transport may do more than the SDK's.
 */
export function buildServer(
  tool: BashTool,
  options: McpOptions,
  delivery: Delivery | undefined,
): Server {
  const { log, structured } = options;
  const tools = new Map(toolsOf(tool).map((each) => [each.name, each]));
  const server = new Server(
    { name: options.name ?? 'forkline', version: packageVersion() },
    {
      capabilities: { tools: {}, ...(tool.tasks && { logging: {} }) },
      instructions: options.instructions ?? INSTRUCTIONS,
    },
  );
  const context: CallContext = { session: randomUUID(), log, delivery };
  const opened = logConnection(server, context);
  logTasks(server, tool);

  const isStructured = (): boolean => structured ?? !readsStructureAlone(server);
  server.setRequestHandler('tools/list', ({ params }) => {
    // There is one page, so this server has given no cursor.
    if (params?.cursor !== undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'Invalid cursor: there are no pages',
      );
    }
    const definitions = [...tools.values()].map(toMcpTool);
    return { tools: isStructured() ? definitions : definitions.map(withoutOutputSchema) };
  });
  server.setRequestHandler('tools/call', async ({ params }, request) => {
    opened();
    const called = tools.get(params.name);
    if (called === undefined) {
      const known = [...tools.keys()].join(', ');
      const message = `Unknown tool: ${params.name}; there are ${known}`;
      return refused(new ProtocolError(ProtocolErrorCode.InvalidParams, message));
    }
    const result = await callTool(called, params.arguments ?? {}, request, context);
    return isStructured() ? result : withoutStructure(result);
  });
  return server;
}

/**
 * Returns whether a client shows a model the structure alone: Claude's programs and its Agent SDK do,
 * which are known by their names.
 */
function readsStructureAlone(server: Server): boolean {
  return /^claude/i.test(server.getClientVersion()?.name ?? '');
}

function withoutOutputSchema({ outputSchema: _, ...tool }: McpTool): McpTool {
  return tool;
}

function withoutStructure({ structuredContent: _, ...result }: CallToolResult): CallToolResult {
  return result;
}

/**
 * Logs the beginning and the end of a connection.
 *
 * @returns Called at the first use: the newest revision of the protocol has no beginning, and a client
 *   that looks at the tools may not call any.
 */
function logConnection(server: Server, { session, log }: CallContext): () => void {
  let isOpen = false;
  const open = (): void => {
    if (isOpen) return;
    isOpen = true;
    const client = server.getClientVersion();
    const known = client && { client: `${client.name} ${client.version}` };
    log?.write({ event: 'connected', session, ...known });
  };
  server.oninitialized = open;
  server.onclose = () => {
    if (isOpen) log?.write({ event: 'disconnected', session });
  };
  return open;
}
