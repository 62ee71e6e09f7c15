import type { BashTool, ToolSchema } from '../index.js';

/** The description of a tool for a model API. */
export type ToolDefinition = Pick<
  BashTool,
  'name' | 'description' | 'inputSchema' | 'outputSchema' | 'hints'
>;

/** Returns a tool and the tools that a model needs beside it, each name once. */
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

/** A schema that describes the input to a model, and leaves the check to the tool. */
export type UncheckedSchema = ToolSchema<unknown>;

/**
 * Returns a schema without checks, for frameworks that check input by it: they would describe mistakes
 * to the model in words of their own, or throw.
 */
export function uncheckedSchema({ schema }: BashTool): UncheckedSchema {
  return { '~standard': { ...schema['~standard'], validate: (value) => ({ value }) } };
}
