import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { type BashTool, createBashTool, type SessionOptions } from '../../index.js';
import { toAnthropicTool } from '../anthropic.js';
import { toolsOf } from '../definition.js';

/**
 * A tool and its companions for `client.beta.messages.toolRunner()`. What goes wrong is a result with
 * `is_error`, in the words of the tool.
 *
 * @example
 * const runner = client.beta.messages.toolRunner({ ...request, tools: toRunnableTools(bash) });
 */
export function toRunnableTools(tool: BashTool): BetaRunnableTool<unknown>[] {
  return toolsOf(tool).map((each) => ({ ...toAnthropicTool(each), ...callsOf(each) }));
}

/** What it has besides what the runner calls: its name, and a certain end. */
interface KnownShell {
  readonly type: 'bash_20250124';
  readonly name: 'bash';
  readonly close: () => Promise<void>;
}

/** Anthropic's own bash tool, run by forkline. `close()` ends the shell, and all that it started. */
export type Bash20250124 = BetaRunnableTool<unknown> & KnownShell;

/**
 * Makes the tool that Claude knows as `bash_20250124`: one bash for all calls, which one call with
 * `restart: true` gives anew. It is for the tool runner; whoever has a loop of their own sends its
 * `type` and `name` and gives what `run()` returns, or throws, as the result.
 *
 * @param options Those of the `session` contract.
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

/** How the runner calls a tool; input is checked by that. */
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

/** A server in the host's own process, as the Claude Agent SDK takes it. */
export interface InProcessServer {
  type: 'sdk';
  /** What the server was named, the `<name>` in `mcp__<name>__bash`. */
  name: string;
  /** Their type names a class; what is asked of it is `connect()`. */
  instance: never;
}

/**
 * A server of `forkline/mcp` for `mcpServers` of the Claude Agent SDK.
 *
 * @param name What the model's tools are called by: `mcp__<name>__bash`. Default: forkline.
 * @example
 * const mcpServers = { forkline: inProcessServer(createMcpServer(bash)) };
 */
export function inProcessServer(
  server: { connect(transport: never): Promise<void> },
  name = 'forkline',
): InProcessServer {
  return { type: 'sdk', name, instance: server as never };
}
