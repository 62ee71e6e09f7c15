import { InputError } from '../../../support/errors.js';
import { newestOf } from '../../../support/text.js';
import { UnknownTaskError } from '../../../tasks/errors.js';
import { waitForFirst } from '../../../tasks/first-of.js';
import type { TaskManager } from '../../../tasks/manager.js';
import type { TaskStatus } from '../../../tasks/status.js';
import type { Task } from '../../../tasks/task.js';
import { callOfNow, completeTool } from '../../call.js';
import type { BashTool, ToolCall, ToolResult } from '../../contract.js';
import { ToolAbortError, ToolError } from '../../errors.js';
import { taskLine } from '../../tasks/task-text.js';
import {
  aimOf,
  awaitedText,
  namesSomething,
  UNTIL_PROPERTIES,
  type UntilInput,
  untilOf,
} from '../../tasks/until.js';
import {
  type OfferedInput,
  type TaskWriting,
  WRITE_WAIT,
  WRITING_PROPERTIES,
  writeTo,
} from '../../tasks/write-and-wait.js';
import { createValidator, type ObjectSchema } from '../../validate.js';
import { jobNews, jobReport, leftNote } from './job-text.js';

/** Details of an answer of the `job` tool. */
export interface JobDetails {
  /** The jobs of the answer. */
  readonly jobs: readonly TaskStatus[];
}

/** Input of the `job` tool, once it is valid. Exactly one of the first four fields is present. */
export interface JobInput extends UntilInput {
  /** Ids of the jobs to wait for; empty: all. */
  readonly poll?: readonly string[];
  /** Ids of the jobs to end. */
  readonly cancel?: readonly string[];
  /** A job, and what to write to it. */
  readonly write?: TaskWriting & { readonly id: string };
  /** List all jobs, in one line each. */
  readonly list?: boolean;
}

const POLL_SECONDS = 30;

const ids = { type: 'array', items: { type: 'string' } };

const SCHEMA: ObjectSchema = {
  type: 'object',
  properties: {
    poll: { ...ids, description: 'Ids of jobs to wait for; empty: all' },
    cancel: { ...ids, description: 'Ids of jobs to end' },
    write: {
      type: 'object',
      properties: { id: { type: 'string' }, ...WRITING_PROPERTIES },
      required: ['id'],
      additionalProperties: false,
    },
    list: { type: 'boolean', description: 'true: show all jobs' },
    ...UNTIL_PROPERTIES,
  },
  additionalProperties: false,
};

const DESCRIPTION = [
  'Follows commands that run in the background (`bg_1`, `bg_2`, …). Give exactly one of these:',
  '',
  `- \`poll\`: waits until one of the jobs has ended, ${POLL_SECONDS} seconds or \`seconds\`, and ` +
    'tells how they stand. A job that has ended is told with its output, once; of one that runs the ' +
    'last new output is shown. With `line`, `port` or `silent`, it waits for that too, and shows what is ' +
    'new since you looked.',
  '- `write`: writes to its stdin or terminal (`stdin: true`, `pty: true`), waits likewise, and shows what ' +
    'is new.',
  '- `cancel`: ends the jobs, with everything that they started.',
  '- `list`: shows all jobs. Those that have ended are forgotten after a few minutes.',
].join('\n');

/**
 * Makes the tool by which a model follows the background jobs of a manager.
 *
 * @param offered What its commands may be started with.
 */
export function createJobTool(
  manager: TaskManager,
  offered: OfferedInput,
): BashTool<JobDetails, JobInput> {
  const validate = createValidator<JobInput>(SCHEMA);
  return completeTool<BashTool<JobDetails, JobInput>>({
    name: 'job',
    description: DESCRIPTION,
    inputSchema: SCHEMA,
    strict: true,
    concurrency: 'shared',
    // A call can end a job.
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    companions: [],
    async execute(input, given) {
      let call: ToolCall<JobDetails> | undefined;
      try {
        call = callOfNow(given);
        return await answer(await validate(input), manager, offered, call);
      } catch (error) {
        if (error instanceof InputError || error instanceof UnknownTaskError) {
          throw new ToolError('input', error.message, { cause: error });
        }
        if (call?.signal?.aborted) throw new ToolAbortError('Waiting cancelled', { cause: error });
        throw error;
      }
    },
    async dispose() {},
  });
}

async function answer(
  input: JobInput,
  manager: TaskManager,
  offered: OfferedInput,
  { signal }: ToolCall<JobDetails>,
): Promise<ToolResult<JobDetails>> {
  const { poll, cancel, write, list = false } = input;
  const asked = [poll, cancel, write, list || undefined].filter((one) => one !== undefined);
  if (asked.length !== 1) {
    throw new InputError('input: expected exactly one of poll, cancel, write and list');
  }
  if (write !== undefined) {
    const task = manager.find(write.id);
    const until = { ...WRITE_WAIT, ...input };
    const { event, aim } = await writeTo(task, write, offered, until, signal);
    return result(await jobNews(task, event, aim), [task]);
  }
  if (poll !== undefined) {
    return polled(poll.length === 0 ? untold(manager) : find(manager, poll), input, signal);
  }
  if (cancel !== undefined) {
    const tasks = find(manager, cancel);
    const left = new Set(tasks.filter(({ state }) => state === 'left'));
    await Promise.all(tasks.map((task) => task.whileAwaited(() => task.stop())));
    return reports(tasks, left);
  }
  return listed(manager.list());
}

async function polled(
  tasks: readonly Task[],
  input: UntilInput,
  signal: AbortSignal | undefined,
): Promise<ToolResult<JobDetails>> {
  const until = untilOf(input, POLL_SECONDS);
  const first = await waitForFirst(tasks, until, signal);
  if (!namesSomething(until)) return reports(tasks);
  const news = tasks.map((task) => {
    if (first === 'time') return jobNews(task, awaitedText({ kind: 'time' }, until));
    if (first?.task !== task) return jobNews(task, undefined);
    return jobNews(task, awaitedText(first.awaited, until), aimOf(first.awaited));
  });
  return result((await Promise.all(news)).join('\n\n'), tasks);
}

function find(manager: TaskManager, wanted: readonly string[]): Task[] {
  return [...new Set(wanted)].map((id) => manager.find(id));
}

/** Returns the jobs that run, and those whose end the model has not been told. */
function untold(manager: TaskManager): Task[] {
  return manager.list().filter(({ end, hasNews }) => end === undefined || hasNews);
}

/** Characters of an answer after which no further job is added; the model can ask for the others. */
const MOST_CHARACTERS = 100_000;

/**
 * Reports as many jobs as the answer has room for, with their outputs.
 *
 * @param cleared Those whose processes were ended after their commands had ended by themselves.
 */
async function reports(
  tasks: readonly Task[],
  cleared: ReadonlySet<Task> = new Set(),
): Promise<ToolResult<JobDetails>> {
  const texts: string[] = [];
  let room = MOST_CHARACTERS;
  for (const task of tasks) {
    if (room <= 0) break;
    const text = await jobReport(task, cleared.has(task) ? await leftNote(task) : undefined);
    texts.push(text);
    room -= text.length;
  }
  const left = tasks.slice(texts.length).map(({ id }) => id);
  if (left.length > 0) texts.push(`${left.length} more jobs: poll them next: ${newestOf(left)}`);
  return result(texts.join('\n\n'), tasks);
}

const LISTED = 50;

/** Lists the newest jobs. When there are too many, running ones are preferred. */
function listed(tasks: readonly Task[]): ToolResult<JobDetails> {
  const running = tasks.filter(({ end }) => end === undefined).slice(-LISTED);
  const ended = tasks.filter(({ end }) => end !== undefined);
  const room = LISTED - running.length;
  const shown = new Set([...running, ...ended.slice(Math.max(0, ended.length - room))]);
  const lines = tasks.filter((task) => shown.has(task)).map((task) => taskLine(task));
  const hidden = tasks.length - lines.length;
  if (hidden > 0) lines.unshift(`${hidden} older jobs are not listed.`);
  return result(lines.join('\n'), tasks);
}

function result(text: string, tasks: readonly Task[]): ToolResult<JobDetails> {
  return {
    content: [{ type: 'text', text: text || 'There are no background jobs.' }],
    details: { jobs: tasks.map((task) => task.status()) },
  };
}
