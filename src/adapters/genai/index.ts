// Google's SDK takes a tool by its shape: nothing of it is loaded, and its types are not needed.
import type { BashTool, ObjectSchema } from '../../index.js';
import { checkPeer } from '../../support/peers/check.js';
import { boundedBy, type TextBound } from '../bounded.js';
import { toolsOf } from '../definition.js';

export type { TextBound } from '../bounded.js';

checkPeer('forkline/genai', import.meta.url);

/** A model's call, with the fields that are used here. */
export interface FunctionCall {
  /** The call's id; if there is one, the answer has it, too. */
  id?: string;
  /** The name of the called tool. */
  name?: string;
  /** The tool's input, which the tool itself checks. Default: `{}`. */
  args?: Record<string, unknown>;
}

/** The answer to a call. */
export interface FunctionResponsePart {
  /** The part of a `Content` that the SDK sends to the model. */
  functionResponse: {
    /** The call's id, if it had one. */
    id?: string;
    /** The name of the called tool. */
    name: string;
    /** The text is in `output`, or in `error` when the model should take it for an error. */
    response: { output: string } | { error: string };
  };
}

/** A tool that Google's SDK calls by itself. */
export interface CallableTool {
  /** Returns the description for the model: a function for the tool and for each companion. */
  tool(): Promise<{
    functionDeclarations: {
      /** The name by which the model calls the tool. */
      name: string;
      /** The description for the model. */
      description: string;
      /** The JSON schema of its input. */
      parametersJsonSchema: ObjectSchema;
    }[];
  }>;
  /**
   * Runs calls.
   *
   * @throws {ToolAbortError} The signal was aborted.
   */
  callTool(calls: FunctionCall[]): Promise<FunctionResponsePart[]>;
}

/** Options of a callable tool. */
export interface CallableToolOptions extends TextBound {
  /**
   * A signal that ends running commands: that of a request does not reach its tools. Default: none.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a tool and its companions for `config.tools` of Google's `generateContent()`, which then calls
 * them by itself.
 *
 * @throws {InputError} An option is not valid.
 * @example
 * const config = { tools: [toCallableTool(bash)] };
 * const { text } = await ai.models.generateContent({ model, contents, config });
 */
export function toCallableTool(
  tool: BashTool,
  { signal, ...bound }: CallableToolOptions = {},
): CallableTool {
  const shorten = boundedBy(bound);
  const tools = toolsOf(tool);
  const answer = async ({ id, name = '', args }: FunctionCall): Promise<FunctionResponsePart> => {
    const found = tools.find((each) => each.name === name);
    const { text, isError } = found
      ? shorten(await found.answer(args ?? {}, { signal }))
      : { text: `There is no tool named ${name}.`, isError: true };
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
