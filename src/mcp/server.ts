import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { toolsOf } from '../adapters/definition.js';
import { type McpTool, toMcpTool } from '../adapters/mcp.js';
import type { BashTool } from '../index.js';
import {
  checkMethod,
  checkObject,
  checkString,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
} from '../support/checks.js';
import { packageVersion } from '../support/version.js';
import { type CallContext, callTool, type Delivery } from './call.js';
import type { CallLog } from './call-log.js';
import { logTasks } from './task-log.js';

/** What a server tells its client of itself, and others of what it does. */
export interface McpOptions {
  /** The server's name. Default: `forkline`. */
  readonly name?: string | undefined;
  /** What a model should know beside the tools' descriptions. Default: a few lines. */
  readonly instructions?: string | undefined;
  /**
   * Whether results of tools with an output schema are structured as well. Default: yes, but not
   * for clients that are known to show a model the structure in place of the text: JSON costs it
   * more, and its escapes are hard to read.
   */
  readonly structured?: boolean | undefined;
  /** Told of each call and its outcome. Default: nobody. */
  readonly log?: CallLog | undefined;
}

/** The names of those options. */
export const MCP_OPTION_NAMES: OptionNames<McpOptions> = {
  name: true,
  instructions: true,
  structured: true,
  log: true,
};

const INSTRUCTIONS = [
  "Runs shell commands on the user's machine, with the rights of the user who started the server.",
  'Commands read an empty standard input. Cancelling a request ends its command; when the client',
  'goes away, everything that it started ends.',
].join(' ');

/**
 * An MCP server with a shell tool and its companions, to be connected to a transport of the
 * official SDK. The tool stays the caller's to dispose of: after the connection, for what the
 * client started to end with it.
 *
 * @example
 * const server = createMcpServer(createBashTool({ contract: 'workspace', cwd: '/srv/project' }));
 * await server.connect(transport);
 *
 * @throws {InputError} The tool or an option is not valid.
 */
export function createMcpServer(tool: BashTool, given: McpOptions = {}): Server {
  checkTool(tool);
  const options = readServerOptions(given, MCP_OPTION_NAMES);
  return buildServer(tool, options, undefined);
}

/**
 * Options of a server of any transport.
 *
 * @param names All that it has.
 * @throws {InputError} One is not known, or what all servers have is not valid.
 */
export function readServerOptions<Options extends McpOptions>(
  given: Options,
  names: OptionNames<Options>,
): Options {
  const options = readOptions('options', given, names);
  checkString('name', options.name);
  checkString('instructions', options.instructions);
  checkSwitch('structured', options.structured);
  checkMethod('log', 'write', options.log);
  return options;
}

/** @throws {InputError} It is not a tool. */
export function checkTool(tool: BashTool): void {
  if (isMissing(tool)) checkObject('tool', tool);
  checkMethod('tool', 'execute', tool);
}

/**
 * A server as {@link createMcpServer} makes it, for a transport that can do more than the SDK's.
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
    // There is one page, so no cursor is ours.
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
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    const result = await callTool(called, params.arguments ?? {}, request, context);
    return isStructured() ? result : withoutStructure(result);
  });
  return server;
}

/** Claude's programs and its Agent SDK, by the names that they give themselves. */
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
 * @returns To be called when it is used: the newest revision of the protocol has no beginning, and
 *   not everybody who looks at what there is comes to stay.
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
