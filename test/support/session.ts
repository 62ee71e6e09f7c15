import { createBashTool, type SessionOptions, type SessionTool } from '../../src/index.js';
import { useDisposal } from './disposal.js';

/** Makes `session` tools that are disposed of after the test that asked for them. */
export function useSessionTools(folder: {
  readonly path: string;
}): (options?: Partial<SessionOptions>) => SessionTool {
  const keep = useDisposal();
  return (options) =>
    keep(createBashTool({ contract: 'session', cwd: folder.path, graceMs: 500, ...options }));
}

/** Runs a command and gives its structured answer. */
export async function data(
  tool: SessionTool,
  command: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { structured } = await tool.execute({ command, ...fields });
  if (structured === undefined) throw new Error('expected a structured answer');
  return structured;
}

/** What `pwd` says in the session. */
export async function pwd(tool: SessionTool): Promise<unknown> {
  return (await data(tool, 'pwd')).stdout;
}

/** Starts a command in the background; gives its id. */
export async function startTask(tool: SessionTool, command: string): Promise<string> {
  return String((await data(tool, command, { run_in_background: true })).task_id);
}
