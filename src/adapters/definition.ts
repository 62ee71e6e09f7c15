import type { BashTool } from '../index.js';

/** What a model API has to know of a tool. */
export type ToolDefinition = Pick<
  BashTool,
  'name' | 'description' | 'inputSchema' | 'outputSchema' | 'hints'
>;

/** A tool and those that a model needs beside it, each name once. */
export function toolsOf(tool: BashTool): BashTool[] {
  const found = new Map<string, BashTool>();
  const add = (each: BashTool): void => {
    if (found.has(each.name)) return;
    found.set(each.name, each);
    each.companions.forEach(add);
  };
  add(tool);
  return [...found.values()];
}
