import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';

/** A tool as Anthropic's Messages API takes it. */
export interface AnthropicTool {
  /** The tool's name: what a call of the model names. */
  name: string;
  /** What the model is told of it. */
  description: string;
  /** JSON Schema of its input. */
  input_schema: ObjectSchema;
}

/** A tool for `tools` of Anthropic's Messages API. */
export function toAnthropicTool(tool: ToolDefinition): AnthropicTool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.inputSchema },
  };
}
