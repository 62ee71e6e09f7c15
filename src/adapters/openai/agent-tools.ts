import type { Tool, tool } from '@openai/agents';
import type { BashTool } from '../../index.js';
import { toolsOf } from '../definition.js';
import { strictSchema } from '../openai-strict.js';

/** The part of a call's details that is used here. */
type Details = { readonly signal?: AbortSignal };

/**
 * Makes a tool and its companions for `tools` of an agent of OpenAI's Agents SDK, which is loaded for
 * this. They are strict if strict mode can express their schema: an optional field may be null there,
 * which counts as left out.
 *
 * @example
 * const agent = new Agent({ name: 'Engineer', tools: await toAgentTools(bash) });
 */
export async function toAgentTools(bash: BashTool): Promise<Tool[]> {
  // Loaded only here: a host that answers shell calls alone need not have the SDK installed.
  const sdk = await import('@openai/agents');
  return toolsOf(bash).map((each) => toAgentTool(each, sdk.tool));
}

function toAgentTool(bash: BashTool, make: typeof tool): Tool {
  const { name, description, inputSchema } = bash;
  const strict = strictSchema(inputSchema);
  const { properties, required = [] } = strict ?? inputSchema;
  return make({
    name,
    description,
    parameters: {
      type: 'object',
      properties: { ...properties },
      required,
      additionalProperties: false,
    },
    // The SDK's type takes every schema that allows no other properties for strict.
    strict: (strict !== undefined) as true,
    execute: async (input: unknown, _: unknown, details?: Details) => {
      const { text } = await bash.answer(input, { signal: details?.signal });
      return text;
    },
  });
}
