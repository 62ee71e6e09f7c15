import type { Lifetime } from '../../call.js';
import { completeTool } from '../../call.js';
import type { BashTool, ToolCall, ToolResult } from '../../contract.js';
import { awaitedText, namesSomething, untilOf } from '../../tasks/until.js';
import { createValidator } from '../../validate.js';
import { endedTask, newsOfTask, unknownTask } from './answers.js';
import { runningTaskResult, type TaskDetails } from './result.js';
import {
  TASK_OUTPUT_DESCRIPTION,
  TASK_OUTPUT_SCHEMA,
  TASK_RESULT_SCHEMA,
  type TaskOutputInput,
} from './schema.js';
import type { SessionTask, SessionTasks } from './session-tasks.js';

/** What is waited for that is not named so, in seconds. */
const WAIT_SECONDS = 30;

/**
 * The tool with which a model reads what its commands in the background have printed.
 *
 * @param life That of the session.
 */
export function createTaskOutputTool(
  tasks: SessionTasks,
  life: Lifetime,
): BashTool<TaskDetails, TaskOutputInput> {
  const validate = createValidator<TaskOutputInput>(TASK_OUTPUT_SCHEMA);

  async function answer(
    input: unknown,
    { signal }: ToolCall<TaskDetails>,
  ): Promise<ToolResult<TaskDetails>> {
    const fields = await validate(input);
    const known = tasks.find(fields.task_id);
    if (known === undefined) return unknownTask(tasks, fields.task_id);
    const { task } = known;
    const until = untilOf(fields, WAIT_SECONDS);
    const waits = namesSomething(until) || fields.seconds !== undefined;
    if (task.end !== undefined) return endedTask(tasks, known, waits || fields.new ? 'new' : 'all');
    if (!waits) {
      return fields.new ? newsOfTask(tasks, known, undefined) : soFar(known);
    }
    const awaited = await task.whileAwaited(() => task.wait(until, { since: task.seen, signal }));
    return newsOfTask(tasks, known, awaitedText(awaited, until));
  }

  async function soFar(known: SessionTask): Promise<ToolResult<TaskDetails>> {
    const shown = await known.outputSoFar();
    // It has ended meanwhile.
    if (shown === undefined) return endedTask(tasks, known, 'all');
    return runningTaskResult(known.task.id, shown);
  }

  return completeTool<BashTool<TaskDetails, TaskOutputInput>>({
    name: 'task_output',
    description: TASK_OUTPUT_DESCRIPTION,
    inputSchema: TASK_OUTPUT_SCHEMA,
    outputSchema: TASK_RESULT_SCHEMA,
    strict: true,
    concurrency: 'shared',
    // It forgets what it has told.
    hints: { readOnly: true, destructive: false, idempotent: false, openWorld: false },
    companions: [],
    execute: (input, given) => life.call(input, given, answer),
    async dispose() {},
  });
}
