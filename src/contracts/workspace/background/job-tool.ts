import type { Job, JobStatus } from '../../../jobs/job.js';
import { type JobManager, UnknownJobError } from '../../../jobs/manager.js';
import { waitForFirst } from '../../../jobs/wait.js';
import { InputError } from '../../../support/errors.js';
import { callOfNow } from '../../call-listeners.js';
import type { BashTool, ToolCall, ToolResult } from '../../contract.js';
import { copyInput } from '../../copy-input.js';
import { ToolAbortError, ToolError } from '../../errors.js';
import { createValidator, type JsonSchema } from '../../validate.js';
import { jobLine, jobReport } from './job-text.js';

/** Details of an answer of the `job` tool. */
export interface JobDetails {
  /** The jobs that it is about. */
  readonly jobs: readonly JobStatus[];
}

interface JobInput {
  readonly poll?: readonly string[];
  readonly cancel?: readonly string[];
  readonly list?: boolean;
}

const POLL_MS = 30_000;

const ids = { type: 'array', items: { type: 'string' } };

const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    poll: { ...ids, description: 'Ids of jobs to wait for; empty: all' },
    cancel: { ...ids, description: 'Ids of jobs to end' },
    list: { type: 'boolean', description: 'true: show all jobs' },
  },
  additionalProperties: false,
};

const DESCRIPTION = [
  'Waits for, lists and ends commands that run in the background (`bg_1`, `bg_2`, …). Give exactly ' +
    'one of these:',
  '',
  `- \`poll\`: waits until one of the jobs has ended, at most ${POLL_MS / 1000} seconds, and tells ` +
    'how they stand. A job that has ended is told with its output, once; of one that runs the ' +
    'last output is shown.',
  '- `cancel`: ends the jobs, with everything that they started.',
  '- `list`: shows all jobs. Those that have ended are forgotten after a few minutes.',
].join('\n');

/** The tool with which a model follows the background jobs of a manager. */
export function createJobTool(manager: JobManager): BashTool<JobDetails> {
  const validate = createValidator<JobInput>(SCHEMA);
  return {
    name: 'job',
    description: DESCRIPTION,
    inputSchema: SCHEMA,
    strict: true,
    concurrency: 'shared',
    // It can end a job.
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    companions: [],
    async execute(input, given) {
      const call = callOfNow(given);
      try {
        return await answer(await validate(copyInput(input)), manager, call);
      } catch (error) {
        if (error instanceof InputError || error instanceof UnknownJobError) {
          throw new ToolError('input', error.message, { cause: error });
        }
        if (call.signal?.aborted) throw new ToolAbortError('Waiting cancelled', { cause: error });
        throw error;
      }
    },
    async dispose() {},
  };
}

async function answer(
  input: JobInput,
  manager: JobManager,
  { signal }: ToolCall<JobDetails>,
): Promise<ToolResult<JobDetails>> {
  const { poll, cancel, list = false } = input;
  if (Number(poll !== undefined) + Number(cancel !== undefined) + Number(list) !== 1) {
    throw new InputError('input: expected exactly one of poll, cancel and list');
  }
  if (poll !== undefined) {
    const jobs = poll.length === 0 ? untold(manager) : find(manager, poll);
    await waitForFirst(jobs, POLL_MS, signal);
    return result(jobs, jobReport, '\n\n');
  }
  if (cancel !== undefined) {
    const jobs = find(manager, cancel);
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map((job) => job.whileAwaited(() => job.ended)));
    return result(jobs, jobReport, '\n\n');
  }
  return result(manager.list(), (job) => jobLine(job.status()), '\n');
}

function find(manager: JobManager, wanted: readonly string[]): Job[] {
  return [...new Set(wanted)].map((id) => manager.find(id));
}

/** Those that run, and those of whose end nobody has been told. */
function untold(manager: JobManager): Job[] {
  return manager.list().filter(({ end, hasNews }) => end === undefined || hasNews);
}

function result(
  jobs: readonly Job[],
  show: (job: Job) => string,
  between: string,
): ToolResult<JobDetails> {
  const text = jobs.map(show).join(between) || 'There are no background jobs.';
  return { content: [{ type: 'text', text }], details: { jobs: jobs.map((job) => job.status()) } };
}
