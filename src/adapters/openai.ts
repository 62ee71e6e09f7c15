import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';
import { fitsStrictMode } from './openai-strict.js';

/** A tool in the form of OpenAI's Chat Completions API, and of the many APIs made after it. */
export interface OpenAiTool {
  type: 'function';
  /** The function that the model calls. */
  function: {
    /** The tool's name, by which the model calls it. */
    name: string;
    /** The description for the model. */
    description: string;
    /** JSON Schema of its input. */
    parameters: ObjectSchema;
    /** Whether the API keeps the model to the schema: see `fitsStrictMode()`. */
    strict: boolean;
  };
}

/** A tool in the form of OpenAI's Responses API: the same fields on one level. */
export type OpenAiResponsesTool = { type: 'function' } & OpenAiTool['function'];

/**
 * Describes a tool for `tools` of OpenAI's Chat Completions API. `strict` is true if OpenAI can hold a
 * model to the input's schema as it is. Otherwise `strict` is false and the schema is unchanged: strict
 * mode would turn an optional field into one that is required and may be null, which the tool does not
 * take.
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

/**
 * Describes a tool for `tools` of OpenAI's Responses API; for `strict` see {@link toOpenAiTool}.
 */
export function toOpenAiResponsesTool(tool: ToolDefinition): OpenAiResponsesTool {
  const { type, function: definition } = toOpenAiTool(tool);
  return { type, ...definition };
}
