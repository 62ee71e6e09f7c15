import type { LookAim } from '../../../tasks/look/windows.js';
import type { TaskState } from '../../../tasks/status.js';
import type { ToolResult } from '../../contract.js';
import { screenOf, unseenOf, waitLine } from '../../tasks/screen-text.js';
import {
  completedTaskResult,
  newOutputResult,
  readTaskResult,
  type TaskDetails,
  type TaskPhase,
  unknownTaskResult,
} from './result.js';
import type { EndedTask, SessionTask, SessionTasks } from './session-tasks.js';

/** Makes the answer about a task that does not exist, or not any more. */
export function unknownTask(tasks: SessionTasks, taskId: string): ToolResult<TaskDetails> {
  return unknownTaskResult(taskId, tasks.ids, tasks.fileOf(taskId));
}

/**
 * Makes the answer about a task whose command has ended. Only the first such answer has the output.
 *
 * @param shown The output to show: all, or what is new since the model has looked.
 * @param event One line about what a wait has found besides.
 */
export async function endedTask(
  tasks: SessionTasks,
  known: SessionTask,
  shown: 'all' | 'new',
  event?: string,
): Promise<ToolResult<TaskDetails>> {
  const end = await known.ended;
  const { task } = known;
  // The answer also says the state of the task, which is known when the task has ended.
  await task.ended;
  const phase = phaseOf(task.state, end);
  if (tasks.take(known)) {
    const output = shown === 'new' && task.seen > 0 ? await unseenOf(task) : undefined;
    return completedTaskResult(task.id, end, phase, output, event);
  }
  // A second call at the same time gets no output. Or the last processes have ended since then.
  if (phase !== 'left') tasks.forget(known);
  return readTaskResult(task.id, phase, end, event);
}

function phaseOf(state: TaskState, { outcome }: EndedTask): Exclude<TaskPhase, 'running'> {
  if (state === 'left') return 'left';
  return outcome.kind === 'cancelled' ? 'killed' : 'completed';
}

/**
 * Makes the answer about a task after a wait.
 *
 * @param event One line about what has happened; undefined: the task may have ended.
 * @param aim The part that is shown of more output than fits. Default: what was printed last.
 */
export async function newsOfTask(
  tasks: SessionTasks,
  known: SessionTask,
  event: string | undefined,
  aim?: LookAim,
): Promise<ToolResult<TaskDetails>> {
  const { task } = known;
  if (task.end !== undefined || task.receipt !== undefined) {
    return endedTask(tasks, known, 'new', event);
  }
  // What it waits for comes first: all that was printed before is then on its screen.
  const line = await waitLine(task, event);
  return newOutputResult(task.id, await unseenOf(task, aim), line);
}

/** Makes the answer about a task with a terminal that runs: all of its screen. */
export async function wholeScreen(
  tasks: SessionTasks,
  known: SessionTask,
): Promise<ToolResult<TaskDetails>> {
  const { task } = known;
  const waits = await waitLine(task, undefined);
  const screen = await screenOf(task, 'all');
  // The command has ended meanwhile.
  if (task.end !== undefined) return endedTask(tasks, known, 'all');
  return newOutputResult(task.id, screen, waits);
}
