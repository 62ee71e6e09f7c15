import { afterEach } from 'vitest';
import {
  type BashTool,
  createBashTool,
  type ToolResult,
  type WorkspaceOptions,
  type WorkspaceTool,
} from '../../src/index.js';

/** Makes `workspace` tools that are disposed of after the test that asked for them. */
export function useTools(folder: {
  readonly path: string;
}): (options?: Partial<WorkspaceOptions>) => WorkspaceTool {
  const tools: WorkspaceTool[] = [];
  afterEach(async () => {
    await Promise.all(tools.splice(0).map((tool) => tool.dispose()));
  });
  return (options) => {
    const tool = createBashTool({ contract: 'workspace', cwd: folder.path, ...options });
    tools.push(tool);
    return tool;
  };
}

/** The text that the model reads. */
export function textOf(result: ToolResult<unknown>): string {
  return result.content.map(({ text }) => text).join('');
}

/** What a call that must fail is rejected with. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('expected the call to fail');
}

/** The text for a command, with the wall time made the same each time. */
export async function answerTo(tool: BashTool, input: unknown): Promise<string> {
  return textOf(await tool.execute(input)).replace(/Wall time: \d+\.\d\d/, 'Wall time: T');
}
