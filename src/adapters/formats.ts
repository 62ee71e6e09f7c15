import { toAnthropicTool } from './anthropic.js';
import type { ToolDefinition } from './definition.js';
import { toMcpTool } from './mcp.js';
import { toOpenAiResponsesTool, toOpenAiTool } from './openai.js';

/** Functions that describe a tool to an API, by the name of the format. */
export const TOOL_FORMATS = {
  /** For Anthropic's Messages API. */
  anthropic: toAnthropicTool,
  /** For OpenAI's Chat Completions. */
  openai: toOpenAiTool,
  /** For OpenAI's Responses. */
  'openai-responses': toOpenAiResponsesTool,
  /** For `tools/list` of an MCP server. */
  mcp: toMcpTool,
} as const satisfies Readonly<Record<string, (tool: ToolDefinition) => object>>;

/** The name of a format. */
export type ToolFormat = keyof typeof TOOL_FORMATS;

/** The names of the formats. */
export const TOOL_FORMAT_NAMES = Object.keys(TOOL_FORMATS) as readonly ToolFormat[];
