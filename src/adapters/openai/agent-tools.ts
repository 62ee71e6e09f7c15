import type { Tool, tool } from '@openai/agents';
import type { BashTool } from '../../index.js';
import { toolsOf } from '../definition.js';
import { strictSchema } from '../openai-strict.js';

/** What comes with a call. */
type Details = { readonly signal?: AbortSignal };

/**
 * A tool and its companions for `tools` of an agent of OpenAI's Agents SDK, which is loaded for it. They
 * are strict where strict mode can say their schema: a field that is optional may be null there, which
 * is as left out.
 *
 * @example
 * const agent = new Agent({ name: 'Engineer', tools: await toAgentTools(bash) });
 */
export async function toAgentTools(bash: BashTool): Promise<Tool[]> {
  // Whoever answers shell calls alone need not have it.
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
    // Their type takes whatever allows no other properties for strict.
    strict: (strict !== undefined) as true,
    execute: async (input: unknown, _: unknown, details?: Details) => {
      const { text } = await bash.answer(input, { signal: details?.signal });
      return text;
    },
  });
}
