import {
  createBashTool,
  type PlainDetails,
  type PlainOptions,
  type PlainOutput,
  type PlainTool,
  type ToolCall,
} from '../../src/index.js';
import { useDisposal } from './disposal.js';
import { textOf } from './tool.js';

/** Makes `plain` tools that are disposed of after the test that asked for them. */
export function usePlainTools(): (options?: PlainOptions) => PlainTool {
  const keep = useDisposal();
  return (options) => keep(createBashTool({ contract: 'plain', graceMs: 500, ...options }));
}

/** The answer to a command as the model gets it. */
export async function answerOf(
  tool: PlainTool,
  command: string,
  call?: ToolCall<PlainDetails>,
): Promise<PlainOutput> {
  return JSON.parse(textOf(await tool.execute({ command }, call)));
}
