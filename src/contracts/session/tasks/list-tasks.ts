import type { TaskStatus } from '../../../tasks/status.js';
import type { Lifetime } from '../../call.js';
import { completeTool } from '../../call.js';
import type { BashTool, ToolResult } from '../../contract.js';
import { taskLine } from '../../tasks/task-text.js';
import { createValidator } from '../../validate.js';
import type { TaskListDetails } from './result.js';
import {
  LIST_TASKS_DESCRIPTION,
  LIST_TASKS_SCHEMA,
  type ListTasksInput,
  TASK_LIST_SCHEMA,
} from './schema.js';
import type { SessionTasks } from './session-tasks.js';

/** The newest are shown. */
const LISTED = 50;

/**
 * The tool that shows a model its commands in the background.
 *
 * @param life That of the session.
 */
export function createListTasksTool(
  tasks: SessionTasks,
  life: Lifetime,
): BashTool<TaskListDetails, ListTasksInput> {
  const validate = createValidator<ListTasksInput>(LIST_TASKS_SCHEMA);

  async function answer(input: unknown): Promise<ToolResult<TaskListDetails>> {
    await validate(input);
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

  return completeTool<BashTool<TaskListDetails, ListTasksInput>>({
    name: 'list_tasks',
    description: LIST_TASKS_DESCRIPTION,
    inputSchema: LIST_TASKS_SCHEMA,
    outputSchema: TASK_LIST_SCHEMA,
    strict: true,
    concurrency: 'shared',
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    companions: [],
    execute: (input, given) => life.call(input, given, answer),
    async dispose() {},
  });
}

function structuredStatus({ id, state, label, durationMs }: TaskStatus) {
  return { task_id: id, state, command: label, seconds: Math.round(durationMs / 10) / 100 };
}
