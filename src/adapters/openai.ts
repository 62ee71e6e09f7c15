import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';
import { fitsStrictMode } from './openai-strict.js';

/** A tool as OpenAI's Chat Completions API takes it, and the many APIs made after it. */
export interface OpenAiTool {
  type: 'function';
  /** The function that the model calls. */
  function: {
    /** The tool's name: what a call of the model names. */
    name: string;
    /** What the model is told of it. */
    description: string;
    /** JSON Schema of its input. */
    parameters: ObjectSchema;
    /** Whether the API keeps the model to the schema: see `fitsStrictMode()`. */
    strict: boolean;
  };
}

/** A tool as OpenAI's Responses API takes it: the same on one level. */
export type OpenAiResponsesTool = { type: 'function' } & OpenAiTool['function'];

/**
 * A tool for `tools` of OpenAI's Chat Completions API. `strict` is true when the input's schema is
 * one that OpenAI can hold a model to as it is. Otherwise it is false and the schema is unchanged:
 * what strict mode would make of an optional field, one that is required and may be null, is not
 * what the tool takes.
 */
export function toOpenAiTool(tool: ToolDefinition): OpenAiTool {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: { ...tool.inputSchema },
      strict: fitsStrictMode(tool.inputSchema),
    },
  };
}

/** A tool for `tools` of OpenAI's Responses API; for `strict` see {@link toOpenAiTool}. */
export function toOpenAiResponsesTool(tool: ToolDefinition): OpenAiResponsesTool {
  const { type, function: definition } = toOpenAiTool(tool);
  return { type, ...definition };
}
