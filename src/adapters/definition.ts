import type { BashTool, ToolSchema } from '../index.js';

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

/** A schema that tells a model what to give, and leaves it to the tool to check that. */
export type UncheckedSchema = ToolSchema<unknown>;

/**
 * The schema of a tool for frameworks that check input by it: they would tell the model what is wrong
 * in words of their own, or throw.
 */
export function uncheckedSchema({ schema }: BashTool): UncheckedSchema {
  return { '~standard': { ...schema['~standard'], validate: (value) => ({ value }) } };
}
