import { tmpdir } from 'node:os';
import type { JobDetails, ToolResult, WorkspaceOptions } from '../../src/index.js';
import { createBashTool } from '../../src/index.js';
import type { JobEnd, JobWork } from '../../src/jobs/job.js';
import { useDisposal } from './disposal.js';

/** Work that ends when it is told to. */
export function workOf(label: string): JobWork & { readonly end: (end: JobEnd) => void } {
  let end: (end: JobEnd) => void = () => {};
  const ended = new Promise<JobEnd>((resolve) => {
    end = resolve;
  });
  const cancel = (): void => end({ state: 'cancelled', text: 'Command cancelled' });
  return { label, ended, tail: () => `tail of ${label}`, cancel, end };
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
