// AI SDK 6 and 7 take these by their shape: nothing of it is loaded, and its types are not needed.
import type { BashTool, ToolAnswer } from '../../index.js';
import { checkPeer } from '../../support/peers/check.js';
import { boundedBy, type Shorten, type TextBound } from '../bounded.js';
import { toolsOf, type UncheckedSchema, uncheckedSchema } from '../definition.js';

export type { TextBound } from '../bounded.js';

checkPeer('forkline/ai-sdk', import.meta.url);

/** The result of a call, for an application: a model reads only the text of the `output`. */
export interface AiToolOutput {
  /** The text for the model; in a preliminary result the last output so far. */
  readonly text: string;
  /** Whether the contract counts the call as an error, which the model should know. */
  readonly isError: boolean;
  /** The contract's details; absent in preliminary results, and when nothing was started. */
  readonly details?: unknown;
}

/** A tool for `tools` of `generateText`, `streamText` and agents. */
export interface AiTool {
  /** The description for the model; it may name the present directory. */
  readonly description: string;
  /** A schema that accepts all input: the tool itself answers what is wrong with it. */
  readonly inputSchema: UncheckedSchema;
  /**
   * Runs a call.
   *
   * @throws {ToolAbortError} `abortSignal` was aborted.
   */
  readonly execute: (
    input: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<AiToolOutput> | AsyncIterable<AiToolOutput>;
  /** Returns the part of an output that the model reads: its text alone. */
  readonly toModelOutput: (options: { readonly output: AiToolOutput }) => {
    /** The type of the output; `error-text` for an error. */
    type: 'text' | 'error-text';
    /** The `text` of the output. */
    value: string;
  };
}

/** Options of tools for the AI SDK. */
export interface AiToolOptions extends TextBound {
  /** Whether output so far comes as preliminary results while a command runs. Default: false. */
  readonly stream?: boolean | undefined;
}

/**
 * Makes a tool and its companions for `tools` of the AI SDK, by their names.
 *
 * @throws {InputError} An option is not valid.
 * @example
 * const { text } = await generateText({ model, prompt, tools: toAiTools(bash), stopWhen });
 */
export function toAiTools(
  tool: BashTool,
  { stream = false, ...bound }: AiToolOptions = {},
): Record<string, AiTool> {
  const shorten = boundedBy(bound);
  return Object.fromEntries(
    toolsOf(tool).map((each) => [each.name, toAiTool(each, stream, shorten)]),
  );
}

function toAiTool(tool: BashTool, stream: boolean, shorten: Shorten): AiTool {
  return {
    // Read at each use, since the description may name the present directory.
    get description() {
      return tool.description;
    },
    inputSchema: uncheckedSchema(tool),
    execute: (input, { abortSignal: signal }) =>
      stream
        ? outputs(tool, input, signal, shorten)
        : tool.answer(input, { signal }).then((answer) => outputOf(shorten(answer))),
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
  shorten: Shorten,
): AsyncGenerator<AiToolOutput> {
  for await (const event of tool.stream(input, { signal })) {
    if (event.kind === 'answer') yield outputOf(shorten(event.answer));
    else yield { text: event.tail, isError: false };
  }
}

function outputOf({ text, isError, details }: ToolAnswer<unknown>): AiToolOutput {
  return { text, isError, ...(details !== undefined && { details }) };
}
