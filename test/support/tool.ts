import {
  type BashTool,
  createBashTool,
  type ToolResult,
  type WorkspaceOptions,
  type WorkspaceTool,
} from '../../src/index.js';
import { useDisposal } from './disposal.js';

/** Makes `workspace` tools that are disposed of after the test that asked for them. */
export function useWorkspaceTools(folder: {
  readonly path: string;
}): (options?: Partial<WorkspaceOptions>) => WorkspaceTool {
  const keep = useDisposal();
  return (options) => keep(createBashTool({ contract: 'workspace', cwd: folder.path, ...options }));
}

/** The text that the model reads. */
export function textOf(result: ToolResult<unknown>): string {
  return result.content.map(({ text }) => text).join('');
}

/** The text for a command, with the wall time made the same each time. */
export async function answerTo(tool: BashTool, input: unknown): Promise<string> {
  return withoutTime(textOf(await tool.execute(input)));
}

/** A text with its wall time made the same each time. */
export function withoutTime(text: string): string {
  return text.replace(/Wall time: \d+\.\d\d/, 'Wall time: T');
}
