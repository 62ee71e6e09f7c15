import { completeTool } from '../../src/contracts/call.js';
import { SHELL_HINTS } from '../../src/contracts/contract.js';
import type { BashTool, ToolCall, ToolResult } from '../../src/index.js';

/** How a tool made for a test answers. */
export type Answer = (
  input: unknown,
  call: ToolCall<unknown>,
) => Promise<Partial<ToolResult<unknown>>>;

/** A tool that answers as a test says. */
export function toolOf(name: string, answer: Answer, more: Partial<BashTool> = {}): BashTool {
  return completeTool<BashTool>({
    name,
    description: `The ${name} of a test`,
    inputSchema: {
      type: 'object',
      properties: { command: { type: 'string' } },
      additionalProperties: false,
    },
    strict: true,
    concurrency: 'shared',
    hints: SHELL_HINTS,
    companions: [],
    async execute(input, call = {}) {
      const given = await answer(input, call);
      return { content: [{ type: 'text', text: '' }], details: undefined, ...given };
    },
    async dispose() {},
    ...more,
  });
}
