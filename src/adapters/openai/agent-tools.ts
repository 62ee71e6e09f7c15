import type { Tool, tool } from '@openai/agents';
import type { BashTool } from '../../index.js';
import { hasCode } from '../../support/errors.js';
import { missingPeer } from '../../support/peers/check.js';
import { boundedBy, type Shorten, type TextBound } from '../bounded.js';
import { toolsOf } from '../definition.js';
import { strictSchema } from '../openai-strict.js';

/** The part of a call's details that is used here. */
type Details = { readonly signal?: AbortSignal };

/**
 * Makes a tool and its companions for `tools` of an agent of OpenAI's Agents SDK, which is loaded for
 * this. They are strict if strict mode can express their schema: an optional field may be null there,
 * which counts as left out.
 *
 * @throws {InputError} The bound is not valid.
 * @throws Error `FORKLINE_PEER_MISSING`: `@openai/agents` is not installed.
 * @example
 * const agent = new Agent({ name: 'Engineer', tools: await toAgentTools(bash) });
 */
export async function toAgentTools(bash: BashTool, bound: TextBound = {}): Promise<Tool[]> {
  const shorten = boundedBy(bound);
  const sdk = await loadSdk();
  return toolsOf(bash).map((each) => toAgentTool(each, sdk.tool, shorten));
}

/** Loads the SDK only here: a host that answers shell calls alone need not have it installed. */
async function loadSdk(): Promise<Pick<typeof import('@openai/agents'), 'tool'>> {
  try {
    return await import('@openai/agents');
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    throw missingPeer('forkline/openai', error);
  }
}

function toAgentTool(bash: BashTool, make: typeof tool, shorten: Shorten): Tool {
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
      return shorten(await bash.answer(input, { signal: details?.signal })).text;
    },
  });
}
