import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';

/** A tool as Anthropic's Messages API takes it. */
export interface AnthropicTool {
  name: string;
  description: string;
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
