// Google's SDK takes a tool by its shape: nothing of it is loaded, and its types are not needed.
import type { BashTool, ObjectSchema } from '../../index.js';
import { toolsOf } from '../definition.js';

/** A call that a model makes, as far as it matters here. */
export interface FunctionCall {
  /** Where there is one, the answer has it, too. */
  id?: string;
  /** Of the tool that is called. */
  name?: string;
  /** The tool's input, which the tool itself checks. Default: `{}`. */
  args?: Record<string, unknown>;
}

/** The answer to a call. */
export interface FunctionResponsePart {
  /** The part of a `Content` that the SDK sends to the model. */
  functionResponse: {
    /** That of the call, if it had one. */
    id?: string;
    /** Of the tool that was called. */
    name: string;
    /** The text is under `output`, or under `error` when the model should take it for one. */
    response: { output: string } | { error: string };
  };
}

/** A tool that Google's SDK calls by itself. */
export interface CallableTool {
  /** What the SDK tells the model of: a function for the tool and for each companion. */
  tool(): Promise<{
    functionDeclarations: {
      /** What the model calls it by. */
      name: string;
      /** What the model is told of it. */
      description: string;
      /** The JSON schema of its input. */
      parametersJsonSchema: ObjectSchema;
    }[];
  }>;
  /** @throws {ToolAbortError} The signal was aborted. */
  callTool(calls: FunctionCall[]): Promise<FunctionResponsePart[]>;
}

/** How a callable tool is made. */
export interface CallableToolOptions {
  /**
   * Ends what runs when it is aborted: that of a request does not reach its tools. Default: none.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A tool and its companions for `config.tools` of Google's `generateContent()`, which then calls them
 * by itself.
 *
 * @example
 * const config = { tools: [toCallableTool(bash)] };
 * const { text } = await ai.models.generateContent({ model, contents, config });
 */
export function toCallableTool(tool: BashTool, { signal }: CallableToolOptions = {}): CallableTool {
  const tools = toolsOf(tool);
  const answer = async ({ id, name = '', args }: FunctionCall): Promise<FunctionResponsePart> => {
    const found = tools.find((each) => each.name === name);
    const { text, isError } = (await found?.answer(args ?? {}, { signal })) ?? {
      text: `There is no tool named ${name}.`,
      isError: true,
    };
    const response = isError ? { error: text } : { output: text };
    return { functionResponse: { ...(id !== undefined && { id }), name, response } };
  };
  return {
    tool: async () => ({
      functionDeclarations: tools.map(({ name, description, inputSchema }) => {
        return { name, description, parametersJsonSchema: inputSchema };
      }),
    }),
    callTool: (calls) => Promise.all(calls.map(answer)),
  };
}
