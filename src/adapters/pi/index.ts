// pi takes a tool by its shape: nothing of it is loaded, and its types are not needed.
import type { BashTool, ObjectSchema, TextContent, ToolResult } from '../../index.js';
import { toolsOf } from '../definition.js';

/** A tool for an agent of pi. */
export interface PiTool {
  /** What the model calls it by. */
  name: string;
  /** For people. */
  label: string;
  /** What the model is told of the tool; it may name the directory of now. */
  readonly description: string;
  /** The JSON schema of its input. */
  parameters: ObjectSchema;
  /** Calls of a tool with `sequential` run one after the other. */
  executionMode: 'sequential' | 'parallel';
  /**
   * @throws {ToolError | Error} What the model should take for an error: pi tells it the message.
   * @throws {ToolAbortError} The signal was aborted.
   */
  execute(
    id: string,
    input: unknown,
    signal?: AbortSignal,
    onUpdate?: (update: PiToolResult) => void,
  ): Promise<PiToolResult>;
}

/** The answer to a call, or what there is of it so far. */
export interface PiToolResult {
  /** What the model reads of an answer; of an update, the last output so far. */
  content: TextContent[];
  /** The contract's details; of an update those that are known. */
  details: unknown;
}

/**
 * A tool and its companions for `tools` of an agent of pi.
 *
 * @example
 * const agent = new Agent({ initialState: { model, tools: toPiTools(bash) } });
 */
export function toPiTools(tool: BashTool): PiTool[] {
  return toolsOf(tool).map(toPiTool);
}

function toPiTool(tool: BashTool): PiTool {
  return {
    name: tool.name,
    label: tool.name,
    // That of now: it may name a directory.
    get description() {
      return tool.description;
    },
    parameters: tool.inputSchema,
    executionMode: tool.concurrency === 'exclusive' ? 'sequential' : 'parallel',
    async execute(_, input, signal, onUpdate) {
      const update = onUpdate && ((so: ToolResult<unknown>) => onUpdate(resultOf(so)));
      const { text, isError, details, error } = await tool.answer(input, {
        signal,
        onUpdate: update,
      });
      if (isError) throw error ?? new Error(text);
      return { content: [{ type: 'text', text }], details };
    },
  };
}

function resultOf({ content, details }: ToolResult<unknown>): PiToolResult {
  return { content, details };
}
