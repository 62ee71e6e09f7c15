// AI SDK 6 and 7 take these by their shape: nothing of it is loaded, and its types are not needed.
import type { BashTool, ToolAnswer } from '../../index.js';
import { toolsOf, type UncheckedSchema, uncheckedSchema } from '../definition.js';

/** What a tool's call comes to, for an application: of its `output`, models read the text alone. */
export interface AiToolOutput {
  /** What the model reads; of a preliminary result the last output so far. */
  readonly text: string;
  /** The model should take it for an error: what the contract says of the call. */
  readonly isError: boolean;
  /** The contract's details; absent from preliminary results, and when nothing was started. */
  readonly details?: unknown;
}

/** A tool for `tools` of `generateText`, `streamText` and agents. */
export interface AiTool {
  /** What the model is told of the tool; it may name the directory of now. */
  readonly description: string;
  /** It accepts all input: what is wrong is told by the tool itself, in an answer. */
  readonly inputSchema: UncheckedSchema;
  /** @throws {ToolAbortError} `abortSignal` was aborted. */
  readonly execute: (
    input: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<AiToolOutput> | AsyncIterable<AiToolOutput>;
  /** What the model reads of an output: its text alone. */
  readonly toModelOutput: (options: { readonly output: AiToolOutput }) => {
    /** `error-text` where the output is an error. */
    type: 'text' | 'error-text';
    /** The `text` of the output. */
    value: string;
  };
}

/** How tools are made for the AI SDK. */
export interface AiToolOptions {
  /** Output so far comes as preliminary results while a command runs. Default: false. */
  readonly stream?: boolean | undefined;
}

/**
 * A tool and its companions for `tools` of the AI SDK, by their names.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: toAiTools(bash), stopWhen });
 */
export function toAiTools(
  tool: BashTool,
  { stream = false }: AiToolOptions = {},
): Record<string, AiTool> {
  return Object.fromEntries(toolsOf(tool).map((each) => [each.name, toAiTool(each, stream)]));
}

function toAiTool(tool: BashTool, stream: boolean): AiTool {
  return {
    // That of now: it may name a directory.
    get description() {
      return tool.description;
    },
    inputSchema: uncheckedSchema(tool),
    execute: (input, { abortSignal: signal }) =>
      stream ? outputs(tool, input, signal) : tool.answer(input, { signal }).then(outputOf),
    toModelOutput: ({ output: { text, isError } }) => ({
      type: isError ? 'error-text' : 'text',
      value: text,
    }),
  };
}

async function* outputs(
  tool: BashTool,
  input: unknown,
  signal: AbortSignal | undefined,
): AsyncGenerator<AiToolOutput> {
  for await (const event of tool.stream(input, { signal })) {
    if (event.kind === 'answer') yield outputOf(event.answer);
    else yield { text: event.tail, isError: false };
  }
}

function outputOf({ text, isError, details }: ToolAnswer<unknown>): AiToolOutput {
  return { text, isError, ...(details !== undefined && { details }) };
}
