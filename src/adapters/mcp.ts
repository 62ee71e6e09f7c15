import type { ObjectSchema } from '../index.js';
import type { ToolDefinition } from './definition.js';

/** A tool in the form of an MCP server's list. */
export interface McpTool {
  /** The tool's name, by which the model calls it. */
  name: string;
  /** The tool's name for people. */
  title: string;
  /** The description for the model. */
  description: string;
  /** JSON Schema of its input. */
  inputSchema: ObjectSchema;
  /** JSON Schema of `structuredContent`; absent: there is none. */
  outputSchema?: ObjectSchema;
  /** Hints for a client before a call, for instance whether to ask its user. */
  annotations: {
    /** The tool's name for people, where clients of before 2025-06-18 read it. */
    title: string;
    /** Whether the tool changes nothing. */
    readOnlyHint: boolean;
    /** Whether changes of the tool may destroy something. */
    destructiveHint: boolean;
    /** Whether a second call with the same input changes nothing more. */
    idempotentHint: boolean;
    /** Whether the tool reaches beyond this machine. */
    openWorldHint: boolean;
  };
}

/** The annotations of a tool, one for each of its hints. */
type Annotations = McpTool['annotations'] & {
  readonly [Name in keyof ToolDefinition['hints'] as `${Name}Hint`]: boolean;
};

/** Describes a tool for an MCP server's answer to `tools/list`. */
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
    } satisfies Annotations,
  };
}

/** Returns a name for people: `task_output` as `Task output`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
