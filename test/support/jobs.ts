import type { JobEnd, JobWork } from '../../src/jobs/job.js';

/** Work that ends when it is told to. */
export function workOf(label: string): JobWork & { readonly end: (end: JobEnd) => void } {
  let end: (end: JobEnd) => void = () => {};
  const ended = new Promise<JobEnd>((resolve) => {
    end = resolve;
  });
  const cancel = (): void => end({ state: 'cancelled', text: 'Command cancelled' });
  return { label, ended, tail: () => `tail of ${label}`, cancel, end };
}
