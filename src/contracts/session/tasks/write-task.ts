import type { Lifetime } from '../../call.js';
import { completeTool } from '../../call.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../../contract.js';
import { WRITE_WAIT, writeTo } from '../../tasks/write-and-wait.js';
import { createValidator } from '../../validate.js';
import { endedTask, newsOfTask, unknownTask } from './answers.js';
import type { TaskDetails } from './result.js';
import {
  TASK_RESULT_SCHEMA,
  WRITE_TASK_DESCRIPTION,
  WRITE_TASK_SCHEMA,
  type WriteTaskInput,
} from './schema.js';
import type { SessionTasks } from './session-tasks.js';

/**
 * The tool with which a model talks to its commands in the background.
 *
 * @param life That of the session.
 */
export function createWriteTaskTool(
  tasks: SessionTasks,
  life: Lifetime,
): BashTool<TaskDetails, WriteTaskInput> {
  const validate = createValidator<WriteTaskInput>(WRITE_TASK_SCHEMA);

  async function answer(
    input: unknown,
    { signal }: ToolCall<TaskDetails>,
  ): Promise<ToolResult<TaskDetails>> {
    const { task_id, text, ...asked } = await validate(input);
    const known = tasks.find(task_id);
    if (known === undefined) return unknownTask(tasks, task_id);
    const { task } = known;
    if (task.end !== undefined) return endedTask(tasks, known, 'new');
    const until = { ...WRITE_WAIT, ...asked };
    const event = await task.whileAwaited(() => writeTo(task, text, until, signal));
    return newsOfTask(tasks, known, event);
  }

  return completeTool<BashTool<TaskDetails, WriteTaskInput>>({
    name: 'write_task',
    description: WRITE_TASK_DESCRIPTION,
    inputSchema: WRITE_TASK_SCHEMA,
    outputSchema: TASK_RESULT_SCHEMA,
    strict: true,
    concurrency: 'shared',
    // What it writes to may be a shell.
    hints: SHELL_HINTS,
    companions: [],
    execute: (input, given) => life.call(input, given, answer),
    async dispose() {},
  });
}
