import type { BashTool } from '../index.js';
import { WholeAnswers } from './answers/whole-answers.js';
import { checkTool, MCP_OPTION_NAMES, type McpOptions, readServerOptions } from './options.js';
import { buildServer } from './server.js';

/** A server that waits for its client. */
export interface McpServer {
  /**
   * Begins to serve the client at the other end. To be called once: a further client gets a server of
   * its own.
   */
  connect(transport: McpTransport): Promise<void>;
  /** Ends the connection. Calls that run are aborted. */
  close(): Promise<void>;
}

/**
 * A transport as all versions of the official SDK make them. The package has the SDK's server within
 * itself, so its types are not those of the SDK that you may have installed.
 */
export interface McpTransport {
  /** Begins to listen; the server calls it. */
  start(): Promise<void>;
  /** Sends a message to the client. */
  send(message: never, options?: never): Promise<void>;
  /** Closes the connection. */
  close(): Promise<void>;
}

/**
 * Makes an MCP server with a shell tool and its companions, to be connected to a transport of the
 * official SDK. The caller has to dispose of the tool: after the connection, so that everything that
 * the client has started ends with it.
 *
 * @example
 * const server = createMcpServer(createBashTool({ contract: 'workspace', cwd: '/srv/project' }));
 * await server.connect(transport);
 *
 * @throws {InputError} The tool or an option is not valid.
 */
export function createMcpServer(tool: BashTool, given: McpOptions = {}): McpServer {
  checkTool(tool);
  const options = readServerOptions(given, MCP_OPTION_NAMES);
  const answers = new WholeAnswers();
  const server = buildServer(tool, options, answers);
  const { onclose } = server;
  server.onclose = () => {
    onclose?.();
    void answers.dispose();
  };
  return {
    connect: (transport) => server.connect(transport),
    close: async () => {
      await server.close();
      await answers.dispose();
    },
  };
}
