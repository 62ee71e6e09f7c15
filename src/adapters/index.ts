export type { ObjectSchema } from '../index.js';
export { type AnthropicTool, toAnthropicTool } from './anthropic.js';
export { type ToolDefinition, toolsOf } from './definition.js';
export { TOOL_FORMAT_NAMES, TOOL_FORMATS, type ToolFormat } from './formats.js';
export { type McpTool, toMcpTool } from './mcp.js';
export {
  type OpenAiResponsesTool,
  type OpenAiTool,
  toOpenAiResponsesTool,
  toOpenAiTool,
} from './openai.js';
export { fitsStrictMode } from './openai-strict.js';
