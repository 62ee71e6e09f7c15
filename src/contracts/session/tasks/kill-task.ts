import type { Lifetime } from '../../call.js';
import { completeTool } from '../../call.js';
import type { BashTool, ToolResult } from '../../contract.js';
import { createValidator } from '../../validate.js';
import { endedTask, unknownTask } from './answers.js';
import type { TaskDetails } from './result.js';
import {
  KILL_TASK_DESCRIPTION,
  KILL_TASK_SCHEMA,
  TASK_RESULT_SCHEMA,
  type TaskInput,
} from './schema.js';
import type { SessionTasks } from './session-tasks.js';

/**
 * The tool with which a model ends its commands in the background.
 *
 * @param life That of the session.
 */
export function createKillTaskTool(
  tasks: SessionTasks,
  life: Lifetime,
): BashTool<TaskDetails, TaskInput> {
  const validate = createValidator<TaskInput>(KILL_TASK_SCHEMA);

  async function answer(input: unknown): Promise<ToolResult<TaskDetails>> {
    const { task_id } = await validate(input);
    const known = tasks.find(task_id);
    if (known === undefined) return unknownTask(tasks, task_id);
    await known.task.whileAwaited(() => known.task.stop());
    return endedTask(tasks, known, 'new');
  }

  return completeTool<BashTool<TaskDetails, TaskInput>>({
    name: 'kill_task',
    description: KILL_TASK_DESCRIPTION,
    inputSchema: KILL_TASK_SCHEMA,
    outputSchema: TASK_RESULT_SCHEMA,
    strict: true,
    concurrency: 'shared',
    hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    companions: [],
    execute: (input, given) => life.call(input, given, answer),
    async dispose() {},
  });
}
