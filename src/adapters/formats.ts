import { toAnthropicTool } from './anthropic.js';
import type { ToolDefinition } from './definition.js';
import { toMcpTool } from './mcp.js';
import { toOpenAiResponsesTool, toOpenAiTool } from './openai.js';

/** How each API wants a tool described, by the name of the format. */
export const TOOL_FORMATS = {
  anthropic: toAnthropicTool,
  openai: toOpenAiTool,
  'openai-responses': toOpenAiResponsesTool,
  mcp: toMcpTool,
} as const satisfies Readonly<Record<string, (tool: ToolDefinition) => object>>;

/** The name of a format. */
export type ToolFormat = keyof typeof TOOL_FORMATS;

/** The names of the formats. */
export const TOOL_FORMAT_NAMES = Object.keys(TOOL_FORMATS) as readonly ToolFormat[];
