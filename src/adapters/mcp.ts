import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';

/** A tool as an MCP server lists it. */
export interface McpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

/** A tool for an MCP server's answer to `tools/list`. */
export function toMcpTool(tool: ToolDefinition): McpTool {
  const title = titleOf(tool.name);
  const { hints, outputSchema } = tool;
  return {
    name: tool.name,
    title,
    description: tool.description,
    inputSchema: { ...tool.inputSchema },
    ...(outputSchema && { outputSchema: { ...outputSchema } }),
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
  };
}

/** `task_output` as `Task output`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
