export { callOfNow, completeTool } from '../contracts/call.js';
export type { BashTool, ToolCall, ToolHints, ToolResult } from '../contracts/contract.js';
export {
  type BashToolOf,
  type BashToolOptions,
  type ContractName,
  createBashTool,
} from '../contracts/create-bash-tool.js';
export {
  CANCELLED,
  ToolAbortError,
  ToolError,
  type ToolErrorKind,
  toToolError,
} from '../contracts/errors.js';
