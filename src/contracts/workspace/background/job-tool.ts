import type { Job, JobStatus } from '../../../jobs/job.js';
import { type JobManager, UnknownJobError } from '../../../jobs/manager.js';
import { waitForFirst } from '../../../jobs/wait.js';
import { InputError } from '../../../support/errors.js';
import { newestOf } from '../../../support/text.js';
import { callOfNow } from '../../call-listeners.js';
import type { BashTool, ToolCall, ToolResult } from '../../contract.js';
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
      let call: ToolCall<JobDetails> | undefined;
      try {
        call = callOfNow(given);
        return await answer(await validate(input), manager, call);
      } catch (error) {
        if (error instanceof InputError || error instanceof UnknownJobError) {
          throw new ToolError('input', error.message, { cause: error });
        }
        if (call?.signal?.aborted) throw new ToolAbortError('Waiting cancelled', { cause: error });
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
    return reports(jobs);
  }
  if (cancel !== undefined) {
    const jobs = find(manager, cancel);
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map((job) => job.whileAwaited(() => job.ended)));
    return reports(jobs);
  }
  return listed(manager.list());
}

function find(manager: JobManager, wanted: readonly string[]): Job[] {
  return [...new Set(wanted)].map((id) => manager.find(id));
}

/** Those that run, and those of whose end nobody has been told. */
function untold(manager: JobManager): Job[] {
  return manager.list().filter(({ end, hasNews }) => end === undefined || hasNews);
}

/** No answer is longer than this and one job's output: what is left is told when it is asked for. */
const MOST_CHARACTERS = 100_000;

/** How jobs stand, with their outputs: as many as the answer has room for. */
function reports(jobs: readonly Job[]): ToolResult<JobDetails> {
  const texts: string[] = [];
  let room = MOST_CHARACTERS;
  for (const job of jobs) {
    if (room <= 0) break;
    const text = jobReport(job);
    texts.push(text);
    room -= text.length;
  }
  const left = jobs.slice(texts.length).map(({ id }) => id);
  if (left.length > 0) texts.push(`${left.length} more jobs: poll them next: ${newestOf(left)}`);
  return result(texts.join('\n\n'), jobs);
}

const LISTED = 50;

/** The newest, and of them rather those that run. */
function listed(jobs: readonly Job[]): ToolResult<JobDetails> {
  const running = jobs.filter(({ end }) => end === undefined).slice(-LISTED);
  const ended = jobs.filter(({ end }) => end !== undefined);
  const room = LISTED - running.length;
  const shown = new Set([...running, ...ended.slice(Math.max(0, ended.length - room))]);
  const lines = jobs.filter((job) => shown.has(job)).map((job) => jobLine(job.status()));
  const hidden = jobs.length - lines.length;
  if (hidden > 0) lines.unshift(`${hidden} older jobs are not listed.`);
  return result(lines.join('\n'), jobs);
}

function result(text: string, jobs: readonly Job[]): ToolResult<JobDetails> {
  return {
    content: [{ type: 'text', text: text || 'There are no background jobs.' }],
    details: { jobs: jobs.map((job) => job.status()) },
  };
}
