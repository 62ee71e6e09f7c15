import type { Tool } from '@modelcontextprotocol/server';
import type { BashTool, JsonSchema } from '../index.js';

/** A tool and those that a model needs beside it, by name. */
export function toolsOf(tool: BashTool): ReadonlyMap<string, BashTool> {
  const found = new Map<string, BashTool>();
  const add = (each: BashTool): void => {
    if (found.has(each.name)) return;
    found.set(each.name, each);
    for (const companion of each.companions) add(companion);
  };
  add(tool);
  return found;
}

/** A tool as MCP lists it. Its description may change, so it is read anew each time. */
export function describeTool(tool: BashTool): Tool {
  const title = titleOf(tool.name);
  const { hints, outputSchema } = tool;
  return {
    name: tool.name,
    title,
    description: tool.description,
    inputSchema: objectSchema(tool.inputSchema),
    ...(outputSchema && { outputSchema: objectSchema(outputSchema) }),
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
  };
}

/** MCP wants the root to say that it is an object, which every tool's schema does. */
function objectSchema(schema: JsonSchema): Tool['inputSchema'] {
  return { ...schema, type: 'object' };
}

/** `task_output` as `Task output`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
