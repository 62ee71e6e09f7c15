import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { type BashTool, createBashTool, type SessionOptions } from '../../index.js';
import { checkPeer } from '../../support/peers/check.js';
import { toAnthropicTool } from '../anthropic.js';
import { boundedBy, type Shorten, type TextBound } from '../bounded.js';
import { toolsOf } from '../definition.js';

export type { TextBound } from '../bounded.js';

checkPeer('forkline/anthropic', import.meta.url);

/**
 * Makes a tool and its companions for `client.beta.messages.toolRunner()`. A failure is a result with
 * `is_error`, in the words of the tool.
 *
 * @throws {InputError} The bound is not valid.
 * @example
 * const runner = client.beta.messages.toolRunner({ ...request, tools: toRunnableTools(bash) });
 */
export function toRunnableTools(
  tool: BashTool,
  bound: TextBound = {},
): BetaRunnableTool<unknown>[] {
  const shorten = boundedBy(bound);
  return toolsOf(tool).map((each) => ({ ...toAnthropicTool(each), ...callsOf(each, shorten) }));
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
 * @param options Options of the `session` contract, and the bound of a text.
 * @throws {InputError} An option is not valid.
 */
export function createBash20250124({
  maxTextBytes,
  ...options
}: Omit<SessionOptions, 'persistent'> & TextBound): Bash20250124 & AsyncDisposable {
  const shorten = boundedBy({ maxTextBytes });
  const tool = createBashTool({ contract: 'session', ...options, persistent: true });
  const close = () => tool.dispose();
  return {
    type: 'bash_20250124',
    name: 'bash',
    ...callsOf(tool, shorten),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the functions by which the runner calls a tool; they check the input. */
function callsOf(
  tool: BashTool,
  shorten: Shorten,
): Pick<BetaRunnableTool<unknown>, 'run' | 'parse'> {
  return {
    parse: (input) => input,
    async run(input, context) {
      const answer = await tool.answer(input, { signal: context?.signal ?? undefined });
      const { text, isError } = shorten(answer);
      if (isError) throw await toolError(text);
      return text;
    },
  };
}

/**
 * Makes the error whose text the runner passes on as it is. Where the SDK is not installed there is no
 * runner: a loop of the host's own reads the message.
 */
async function toolError(text: string): Promise<Error> {
  try {
    const { ToolError } = await import('@anthropic-ai/sdk/lib/tools/ToolError');
    return new ToolError(text);
  } catch {
    return new Error(text);
  }
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
