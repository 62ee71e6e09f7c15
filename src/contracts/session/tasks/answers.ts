import type { ToolResult } from '../../contract.js';
import { newOutput } from '../../tasks/task-text.js';
import {
  completedTaskResult,
  newOutputResult,
  readTaskResult,
  type TaskDetails,
  unknownTaskResult,
} from './result.js';
import type { SessionTask, SessionTasks } from './session-tasks.js';

/** The answer about a task that is not there, or no longer. */
export function unknownTask(tasks: SessionTasks, taskId: string): ToolResult<TaskDetails> {
  return unknownTaskResult(taskId, tasks.ids, tasks.fileOf(taskId));
}

/**
 * The answer about a task whose command has ended: the first who asks gets its output.
 *
 * @param shown All of it, or of one that has been followed what is new.
 */
export async function endedTask(
  tasks: SessionTasks,
  known: SessionTask,
  shown: 'all' | 'new',
): Promise<ToolResult<TaskDetails>> {
  const end = await known.ended;
  const { task } = known;
  // Its state is that of now, and told with its end.
  await task.ended;
  const phase = task.state === 'left' ? 'left' : 'completed';
  if (tasks.take(known)) {
    const output = shown === 'new' && task.seen > 0 ? await newOutput(task) : undefined;
    return completedTaskResult(task.id, end, phase, output);
  }
  // Two may ask at once, and the first has it; or what it had left is gone since it was read.
  if (tasks.find(task.id) === undefined) return unknownTask(tasks, task.id);
  if (phase === 'completed') tasks.forget(known);
  return readTaskResult(task.id, phase, end.file);
}

/**
 * The answer about a task after something was waited for.
 *
 * @param event What has happened, on one line; undefined: its end, perhaps.
 */
export async function newsOfTask(
  tasks: SessionTasks,
  known: SessionTask,
  event: string | undefined,
): Promise<ToolResult<TaskDetails>> {
  const { task } = known;
  if (task.end !== undefined || task.receipt !== undefined) return endedTask(tasks, known, 'new');
  return newOutputResult(task.id, await newOutput(task), event);
}
