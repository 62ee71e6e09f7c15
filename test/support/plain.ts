import { afterEach } from 'vitest';
import {
  createBashTool,
  type PlainDetails,
  type PlainOptions,
  type PlainOutput,
  type PlainTool,
  type ToolCall,
} from '../../src/index.js';
import { textOf } from './tool.js';

/** Makes `plain` tools that are disposed of after the test that asked for them. */
export function usePlainTools(): (options?: PlainOptions) => PlainTool {
  const tools: PlainTool[] = [];
  afterEach(async () => {
    await Promise.all(tools.splice(0).map((tool) => tool.dispose()));
  });
  return (options) => {
    const tool = createBashTool({ contract: 'plain', graceMs: 500, ...options });
    tools.push(tool);
    return tool;
  };
}

/** The answer to a command as the model gets it. */
export async function answerOf(
  tool: PlainTool,
  command: string,
  call?: ToolCall<PlainDetails>,
): Promise<PlainOutput> {
  return JSON.parse(textOf(await tool.execute({ command }, call)));
}
