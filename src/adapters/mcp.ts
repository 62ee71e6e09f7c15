import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';

/** A tool as an MCP server lists it. */
export interface McpTool {
  /** The tool's name: what a call of the model names. */
  name: string;
  /** Its name for people. */
  title: string;
  /** What the model is told of it. */
  description: string;
  /** JSON Schema of its input. */
  inputSchema: ObjectSchema;
  /** JSON Schema of `structuredContent`; absent: there is none. */
  outputSchema?: ObjectSchema;
  /** What a client may know of it before a call, to ask its user or not. */
  annotations: {
    /** Its name for people, as clients of before 2025-06-18 read it. */
    title: string;
    /** Whether it changes nothing. */
    readOnlyHint: boolean;
    /** Whether what it changes may be lost. */
    destructiveHint: boolean;
    /** Whether a second call with the same input changes nothing more. */
    idempotentHint: boolean;
    /** Whether it reaches what is outside of this machine. */
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
