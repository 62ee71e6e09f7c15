import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';

/** A tool in the form of Anthropic's Messages API. */
export interface AnthropicTool {
  /** The tool's name, by which the model calls it. */
  name: string;
  /** The description for the model. */
  description: string;
  /** JSON Schema of its input. */
  input_schema: ObjectSchema;
}

/** Describes a tool for `tools` of Anthropic's Messages API. */
export function toAnthropicTool(tool: ToolDefinition): AnthropicTool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.inputSchema },
  };
}
