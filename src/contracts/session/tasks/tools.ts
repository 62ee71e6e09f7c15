import { mayListen } from '../../../tasks/first-of.js';
import type { TaskStatus } from '../../../tasks/status.js';
import { completeTool, type Lifetime } from '../../call.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../../contract.js';
import { taskLine } from '../../tasks/task-text.js';
import { aimOf, awaitedText, namesSomething, untilOf } from '../../tasks/until.js';
import { WRITE_WAIT, writeTo } from '../../tasks/write-and-wait.js';
import { createValidator } from '../../validate.js';
import { endedTask, newsOfTask, unknownTask, wholeScreen } from './answers.js';
import { isCut, runningTaskResult, type TaskDetails, type TaskListDetails } from './result.js';
import {
  KILL_TASK_DESCRIPTION,
  KILL_TASK_SCHEMA,
  LIST_TASKS_DESCRIPTION,
  LIST_TASKS_SCHEMA,
  type ListTasksInput,
  TASK_LIST_SCHEMA,
  TASK_OUTPUT_DESCRIPTION,
  TASK_OUTPUT_SCHEMA,
  TASK_RESULT_SCHEMA,
  type TaskInput,
  type TaskOutputInput,
  WRITE_TASK_DESCRIPTION,
  WRITE_TASK_SCHEMA,
  type WriteTaskInput,
} from './schema.js';
import type { SessionTask, SessionTasks } from './session-tasks.js';

/** The time that `task_output` waits when the model names none, in seconds. */
const WAIT_SECONDS = 30;

/** The number of tasks that `list_tasks` shows: the newest. */
const LISTED = 50;

/**
 * Makes the tools for the tasks of a session.
 *
 * @param life The lifetime of the session.
 */
export function createTaskTools(tasks: SessionTasks, life: Lifetime) {
  return {
    taskOutput: taskTool<TaskDetails, TaskOutputInput>(
      life,
      {
        name: 'task_output',
        description: TASK_OUTPUT_DESCRIPTION,
        inputSchema: TASK_OUTPUT_SCHEMA,
        outputSchema: TASK_RESULT_SCHEMA,
        // A second call does not return the output of a task that has ended again.
        hints: { readOnly: true, destructive: false, idempotent: false, openWorld: false },
      },
      (input, { signal }) => readTask(tasks, input, signal),
    ),
    writeTask: taskTool<TaskDetails, WriteTaskInput>(
      life,
      {
        name: 'write_task',
        description: WRITE_TASK_DESCRIPTION,
        inputSchema: WRITE_TASK_SCHEMA,
        outputSchema: TASK_RESULT_SCHEMA,
        // The command that reads the text may be a shell.
        hints: SHELL_HINTS,
      },
      (input, { signal }) => writeToTask(tasks, input, signal),
    ),
    killTask: taskTool<TaskDetails, TaskInput>(
      life,
      {
        name: 'kill_task',
        description: KILL_TASK_DESCRIPTION,
        inputSchema: KILL_TASK_SCHEMA,
        outputSchema: TASK_RESULT_SCHEMA,
        hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
      },
      (input) => killTask(tasks, input),
    ),
    listTasks: taskTool<TaskListDetails, ListTasksInput>(
      life,
      {
        name: 'list_tasks',
        description: LIST_TASKS_DESCRIPTION,
        inputSchema: LIST_TASKS_SCHEMA,
        outputSchema: TASK_LIST_SCHEMA,
        hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      },
      async () => listTasks(tasks),
    ),
  };
}

function taskTool<Details, Input>(
  life: Lifetime,
  own: Required<Pick<BashTool, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'hints'>>,
  answer: (input: Input, call: ToolCall<Details>) => Promise<ToolResult<Details>>,
): BashTool<Details, Input> {
  const validate = createValidator<Input>(own.inputSchema);
  return completeTool<BashTool<Details, Input>>({
    ...own,
    strict: true,
    concurrency: 'shared',
    companions: [],
    execute: (given, call) =>
      life.call(given, call, async (input, made) => answer(await validate(input), made)),
    async dispose() {},
  });
}

async function readTask(
  tasks: SessionTasks,
  input: TaskOutputInput,
  signal: AbortSignal | undefined,
): Promise<ToolResult<TaskDetails>> {
  const known = tasks.find(input.task_id);
  if (known === undefined) return unknownTask(tasks, input.task_id);
  const { task } = known;
  const until = untilOf(input, WAIT_SECONDS);
  const waits = namesSomething(until) || input.seconds !== undefined;
  if (task.end !== undefined && !mayListen(task, until)) {
    return endedTask(tasks, known, waits || input.new ? 'new' : 'all');
  }
  if (!waits) return input.new ? newsOfTask(tasks, known, undefined) : outputSoFar(tasks, known);
  const awaited = await task.whileAwaited(() => task.wait(until, { since: task.seen, signal }));
  return newsOfTask(tasks, known, awaitedText(awaited, until), aimOf(awaited));
}

async function outputSoFar(
  tasks: SessionTasks,
  known: SessionTask,
): Promise<ToolResult<TaskDetails>> {
  if (known.task.terminal !== undefined) return wholeScreen(tasks, known);
  // Output that comes meanwhile may be shown, and is then shown again by the next look.
  const { total } = await known.task.read({ since: Number.MAX_SAFE_INTEGER });
  const shown = await known.outputSoFar();
  // The command has ended meanwhile.
  if (shown === undefined) return endedTask(tasks, known, 'all');
  if (!isCut(shown)) await known.task.look({ kind: 'end', upTo: total }, Number.MAX_SAFE_INTEGER);
  return runningTaskResult(known.task.id, shown);
}

async function writeToTask(
  tasks: SessionTasks,
  { task_id, text, keys, columns, rows, ...asked }: WriteTaskInput,
  signal: AbortSignal | undefined,
): Promise<ToolResult<TaskDetails>> {
  const known = tasks.find(task_id);
  if (known === undefined) return unknownTask(tasks, task_id);
  const { task } = known;
  if (task.end !== undefined) return endedTask(tasks, known, 'new');
  const until = { ...WRITE_WAIT, ...asked };
  const writing = { text, keys, columns, rows };
  const { event, aim } = await task.whileAwaited(() =>
    writeTo(task, writing, 'pty', until, signal),
  );
  return newsOfTask(tasks, known, event, aim);
}

async function killTask(
  tasks: SessionTasks,
  { task_id }: TaskInput,
): Promise<ToolResult<TaskDetails>> {
  const known = tasks.find(task_id);
  if (known === undefined) return unknownTask(tasks, task_id);
  await known.task.whileAwaited(() => known.task.stop());
  return endedTask(tasks, known, 'new');
}

function listTasks(tasks: SessionTasks): ToolResult<TaskListDetails> {
  const all = tasks.list();
  const lines = all.slice(-LISTED).map(taskLine);
  const hidden = all.length - lines.length;
  if (hidden > 0) lines.unshift(`${hidden} older tasks are not listed.`);
  const text = lines.join('\n') || 'There are no tasks.';
  const statuses = all.map((task) => task.status());
  return {
    content: [{ type: 'text', text }],
    details: { tasks: statuses },
    structured: { tasks: statuses.slice(-LISTED).map(structuredStatus) },
  };
}

function structuredStatus({ id, state, label, durationMs }: TaskStatus) {
  return { task_id: id, state, command: label, seconds: Math.round(durationMs / 10) / 100 };
}
