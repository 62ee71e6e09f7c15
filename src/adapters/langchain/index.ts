import type { ToolMessage } from '@langchain/core/messages';
import type {
  DynamicStructuredTool,
  StructuredTool,
  ToolRunnableConfig,
} from '@langchain/core/tools';
import type { BashTool, ToolAnswer, ToolProgress } from '../../index.js';
import { checkPeer } from '../../support/peers/check.js';
import { latePeer } from '../../support/peers/load.js';
import { boundedBy, type Shorten, type TextBound } from '../bounded.js';
import { toolsOf, uncheckedSchema } from '../definition.js';

export type { TextBound } from '../bounded.js';

checkPeer('forkline/langchain', import.meta.url);

type Messages = typeof import('@langchain/core/messages');
type Tools = typeof import('@langchain/core/tools');

const messages = latePeer<Messages>('@langchain/core/messages', import.meta.url);
const tools = latePeer<Tools>('@langchain/core/tools', import.meta.url);

/** Options of tools for LangChain. */
export interface LangChainToolOptions extends TextBound {
  /**
   * Whether output comes as tool events while a command runs (`streamMode: 'tools'`). Default: false.
   */
  readonly stream?: boolean | undefined;
}

/**
 * Makes a tool and its companions for LangChain. A call of a model is answered with a `ToolMessage`: its
 * `status` tells an error, its `artifact` has the contract's details. A tool that is invoked with an
 * input alone returns the text alone.
 *
 * @throws {InputError} An option is not valid.
 * @example
 * const agent = createAgent({ model, tools: toLangChainTools(bash) });
 */
export function toLangChainTools(
  tool: BashTool,
  { stream = false, ...bound }: LangChainToolOptions = {},
): DynamicStructuredTool[] {
  const shorten = boundedBy(bound);
  return toolsOf(tool).map((each) => toLangChainTool(each, stream, shorten));
}

function toLangChainTool(tool: BashTool, stream: boolean, shorten: Shorten): DynamicStructuredTool {
  const { name, description } = tool;
  const { DynamicStructuredTool: ToolClass } = tools();
  return new ToolClass({
    name,
    description,
    // LangChain accepts such a schema; only the type of its tools does not allow it yet.
    schema: uncheckedSchema(tool) as unknown as StructuredTool['schema'],
    func: (input, _, config: ToolRunnableConfig = {}) => {
      const call = { signal: config.signal };
      const told = (answer: ToolAnswer<unknown>) =>
        messageFor(shorten(answer), name, config.toolCall?.id);
      return stream ? progress(tool, input, call, told) : tool.answer(input, call).then(told);
    },
  });
}

async function* progress(
  tool: BashTool,
  input: unknown,
  call: { readonly signal: AbortSignal | undefined },
  told: (answer: ToolAnswer<unknown>) => ToolMessage | string,
): AsyncGenerator<ToolProgress, ToolMessage | string> {
  for await (const event of tool.stream(input, call)) {
    if (event.kind === 'answer') return told(event.answer);
    const { text, tail, droppedBytes } = event;
    yield { text, tail, droppedBytes };
  }
  // A stream that is read to its end ends with the answer.
  throw new Error('the call has ended without an answer');
}

function messageFor(
  { text, isError, details }: ToolAnswer<unknown>,
  name: string,
  id: string | undefined,
): ToolMessage | string {
  if (id === undefined) return text;
  const status = isError ? 'error' : 'success';
  const { ToolMessage: MessageClass } = messages();
  return new MessageClass({ content: text, status, artifact: details, name, tool_call_id: id });
}
