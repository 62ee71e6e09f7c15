// pi takes a tool by its shape: nothing of it is loaded, and its types are not needed.
import type { BashTool, ObjectSchema, TextContent, ToolResult } from '../../index.js';
import { checkPeer } from '../../support/peers/check.js';
import { boundedBy, type Shorten, type TextBound } from '../bounded.js';
import { toolsOf } from '../definition.js';

export type { TextBound } from '../bounded.js';

checkPeer('forkline/pi', import.meta.url);

/** A tool for an agent of pi. */
export interface PiTool {
  /** The name by which the model calls the tool. */
  name: string;
  /** The name for people. */
  label: string;
  /** The description for the model; it may name the present directory. */
  readonly description: string;
  /** The JSON schema of its input. */
  parameters: ObjectSchema;
  /** Calls of a tool with `sequential` run one after the other. */
  executionMode: 'sequential' | 'parallel';
  /**
   * Runs a call.
   *
   * @throws {ToolError | Error} The call has failed: pi gives the message to the model.
   * @throws {ToolAbortError} The signal was aborted.
   */
  execute(
    id: string,
    input: unknown,
    signal?: AbortSignal,
    onUpdate?: (update: PiToolResult) => void,
  ): Promise<PiToolResult>;
}

/** The answer to a call, or an update before it. */
export interface PiToolResult {
  /** The text for the model; in an update, the last output so far. */
  content: TextContent[];
  /** The contract's details; in an update the details known so far. */
  details: unknown;
}

/**
 * Makes a tool and its companions for `tools` of an agent of pi.
 *
 * @throws {InputError} An option is not valid.
 * @example
 * const agent = new Agent({ initialState: { model, tools: toPiTools(bash) } });
 */
export function toPiTools(tool: BashTool, bound: TextBound = {}): PiTool[] {
  const shorten = boundedBy(bound);
  return toolsOf(tool).map((each) => toPiTool(each, shorten));
}

function toPiTool(tool: BashTool, shorten: Shorten): PiTool {
  return {
    name: tool.name,
    label: tool.name,
    // Read at each use, since the description may name the present directory.
    get description() {
      return tool.description;
    },
    parameters: tool.inputSchema,
    executionMode: tool.concurrency === 'exclusive' ? 'sequential' : 'parallel',
    async execute(_, input, signal, onUpdate) {
      const update = onUpdate && ((so: ToolResult<unknown>) => onUpdate(resultOf(so)));
      const answer = await tool.answer(input, { signal, onUpdate: update });
      const { text, isError, details, error } = shorten(answer);
      // pi gives the message to the model: an error with a longer one would be another text.
      if (isError) throw text === answer.text && error ? error : new Error(text, { cause: error });
      return { content: [{ type: 'text', text }], details };
    },
  };
}

function resultOf({ content, details }: ToolResult<unknown>): PiToolResult {
  return { content, details };
}
