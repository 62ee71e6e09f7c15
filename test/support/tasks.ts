import { tmpdir } from 'node:os';
import type { JobDetails, ToolResult, WorkspaceOptions } from '../../src/index.js';
import { createBashTool } from '../../src/index.js';
import { CommandSubject } from '../../src/tasks/command-subject.js';
import type { TaskEnd } from '../../src/tasks/status.js';
import type { TaskWork } from '../../src/tasks/task.js';
import { useDisposal } from './disposal.js';

/** Work that ends when it is told to. */
export function workOf(label: string): TaskWork & { readonly end: (end: TaskEnd) => void } {
  const subject = new CommandSubject({ takesInput: false });
  let settle: (end: TaskEnd) => void = () => {};
  const ended = new Promise<TaskEnd>((resolve) => {
    settle = resolve;
  });
  const end = (how: TaskEnd): void => {
    subject.conclude(undefined);
    settle(how);
  };
  const cancel = (): void => end({ result: 'cancelled', text: 'Command cancelled' });
  return { label, subject, ended, tail: () => `tail of ${label}`, cancel, end };
}

/** Makes `workspace` tools with jobs, disposed of after the test that asked for them. */
export function useJobTools() {
  const keep = useDisposal();
  return (options: Partial<WorkspaceOptions> = {}) => {
    const own = { cwd: tmpdir(), async: true, graceMs: 500, ...options };
    const bash = keep(createBashTool({ contract: 'workspace', ...own }));
    const job = async (input: unknown): Promise<ToolResult<JobDetails>> => {
      if (bash.job === undefined) throw new Error('expected a job tool');
      return bash.job.execute(input);
    };
    return { bash, job };
  };
}
