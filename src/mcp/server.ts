import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type McpTool, toMcpTool, toolsOf } from '../adapters/index.js';
import type { BashTool } from '../index.js';
import { packageVersion } from '../support/package/version.js';
import { refused } from '../support/timing.js';
import { clientOf } from './answers/client.js';
import { answerLimits, declaredCharacters, MAX_RESULT_KEY } from './answers/limits.js';
import type { WholeAnswers } from './answers/whole-answers.js';
import { Calls } from './asking/calls.js';
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
 *
 * @param answers Bounds the answers. The caller disposes of it after the connection.
 */
export function buildServer(
  tool: BashTool,
  options: McpOptions,
  answers: WholeAnswers,
  delivery?: Delivery,
): Server {
  const { log, structured = false, maxCharacters } = options;
  const tools = new Map(toolsOf(tool).map((each) => [each.name, each]));
  const server = new Server(
    { name: options.name ?? 'forkline', version: packageVersion() },
    {
      capabilities: { tools: {}, ...(tool.tasks && { logging: {} }) },
      instructions: options.instructions ?? INSTRUCTIONS,
    },
  );
  const context: CallContext = {
    session: randomUUID(),
    log,
    delivery,
    shown: (called, result, request) => {
      const limits = answerLimits(clientOf(server, request)?.name, maxCharacters);
      return answers.bound(called, structured ? result : withoutStructure(result), limits);
    },
  };
  const calls = new Calls(server);
  // What is told before a client listens would be lost, and is not told again.
  const opened = logConnection(server, context, () => logTasks(server, tool));

  server.setRequestHandler('tools/list', ({ params }) => {
    // There is one page, so this server has given no cursor.
    if (params?.cursor !== undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'Invalid cursor: there are no pages',
      );
    }
    const definitions = [...tools.values()].map(toMcpTool);
    const listed = structured ? definitions : definitions.map(withoutOutputSchema);
    const _meta = { [MAX_RESULT_KEY]: declaredCharacters(maxCharacters) };
    return { tools: listed.map((each) => ({ ...each, _meta })) };
  });
  server.setRequestHandler('tools/call', async ({ params }, request) => {
    opened(request);
    const called = tools.get(params.name);
    if (called === undefined) {
      const known = [...tools.keys()].join(', ');
      const message = `Unknown tool: ${params.name}; there are ${known}`;
      return refused(new ProtocolError(ProtocolErrorCode.InvalidParams, message));
    }
    return calls.call(request, (client) =>
      callTool(called, params.arguments ?? {}, client, context),
    );
  });
  return server;
}

/** Returns a tool without its schema, which would oblige its results to have a structure. */
function withoutOutputSchema({ outputSchema: _, ...tool }: McpTool): McpTool {
  return tool;
}

function withoutStructure({ structuredContent: _, ...result }: CallToolResult): CallToolResult {
  return result;
}

/**
 * Logs the beginning and the end of a connection.
 *
 * @param begun Called once, at the beginning.
 * @returns Called at the first use: the newest revision of the protocol has no beginning, and a client
 *   that looks at the tools may not call any.
 */
function logConnection(
  server: Server,
  { session, log }: CallContext,
  begun: () => void,
): (request?: ServerContext) => void {
  let isOpen = false;
  const open = (request?: ServerContext): void => {
    if (isOpen) return;
    isOpen = true;
    begun();
    const client = clientOf(server, request);
    const known = client && { client: [client.name, client.version ?? []].flat().join(' ') };
    log?.write({ event: 'connected', session, ...known });
  };
  server.oninitialized = () => open();
  server.onclose = () => {
    if (isOpen) log?.write({ event: 'disconnected', session });
  };
  return open;
}
