import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { type BashTool, createBashTool, type SessionOptions } from '../../index.js';
import { toAnthropicTool } from '../anthropic.js';
import { toolsOf } from '../definition.js';

/**
 * Makes a tool and its companions for `client.beta.messages.toolRunner()`. A failure is a result with
 * `is_error`, in the words of the tool.
 *
 * @example
 * const runner = client.beta.messages.toolRunner({ ...request, tools: toRunnableTools(bash) });
 */
export function toRunnableTools(tool: BashTool): BetaRunnableTool<unknown>[] {
  return toolsOf(tool).map((each) => ({ ...toAnthropicTool(each), ...callsOf(each) }));
}

/** The members that the runner does not use: the name, and `close()`. */
interface KnownShell {
  readonly type: 'bash_20250124';
  readonly name: 'bash';
  readonly close: () => Promise<void>;
}

/** Anthropic's own bash tool, run by forkline. `close()` ends the shell, and all that it started. */
export type Bash20250124 = BetaRunnableTool<unknown> & KnownShell;

/**
 * Makes the tool that Claude knows as `bash_20250124`: one bash for all calls, which a call with
 * `restart: true` replaces by a new one. The tool is for the tool runner; a host with a loop of its own
 * sends the tool's `type` and `name`, and answers with what `run()` returns or throws.
 *
 * @param options Options of the `session` contract.
 * @throws {InputError} An option is not valid.
 */
export function createBash20250124(
  options: Omit<SessionOptions, 'persistent'>,
): Bash20250124 & AsyncDisposable {
  const tool = createBashTool({ contract: 'session', ...options, persistent: true });
  const close = () => tool.dispose();
  return {
    type: 'bash_20250124',
    name: 'bash',
    ...callsOf(tool),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the functions by which the runner calls a tool; they check the input. */
function callsOf(tool: BashTool): Pick<BetaRunnableTool<unknown>, 'run' | 'parse'> {
  return {
    parse: (input) => input,
    async run(input, context) {
      const { text, isError } = await tool.answer(input, { signal: context?.signal ?? undefined });
      if (isError) throw new ToolError(text);
      return text;
    },
  };
}

/** A server in the host's own process, in the form of the Claude Agent SDK. */
export interface InProcessServer {
  type: 'sdk';
  /** The name of the server, as in `mcp__<name>__bash`. */
  name: string;
  /** The SDK's type names a class, but the SDK only calls `connect()`. */
  instance: never;
}

/**
 * Makes a server of `forkline/mcp` for `mcpServers` of the Claude Agent SDK.
 *
 * @param name The name in those of the model's tools: `mcp__<name>__bash`. Default: forkline.
 * @example
 * const mcpServers = { forkline: inProcessServer(createMcpServer(bash)) };
 */
export function inProcessServer(
  server: { connect(transport: never): Promise<void> },
  name = 'forkline',
): InProcessServer {
  return { type: 'sdk', name, instance: server as never };
}
