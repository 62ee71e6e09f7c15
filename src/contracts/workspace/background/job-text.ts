import type { LookAim } from '../../../tasks/look/windows.js';
import type { Task } from '../../../tasks/task.js';
import { formatSeconds, joinSections } from '../../notices.js';
import { screenOf, unseenOf, waitLine } from '../../tasks/screen-text.js';
import { newOutput, taskLine } from '../../tasks/task-text.js';
import { PREVIEW_BYTES } from '../options.js';

/**
 * Says that a command runs in the background.
 *
 * @param afterMs The time that it has run, in milliseconds, if it was not started in the background.
 */
export function startedText({ id, label, terminal }: Task, afterMs?: number): string {
  const seconds = afterMs === undefined ? '' : formatSeconds(afterMs / 1000);
  return (
    (afterMs === undefined
      ? `Background job ${id} started: ${label}\n`
      : `Still running after ${seconds}; it goes on as background job ${id}: ${label}\n`) +
    (terminal === undefined
      ? `To wait for it, call the job tool with {"poll": ["${id}"]}; {"list": true} shows all jobs.`
      : `For its screen, call the job tool with {"poll": ["${id}"], "silent": 0.5}.`)
  );
}

/** Reports a job with its output: what is new of one that runs, or after its end once all of it. */
export async function jobReport(task: Task, note?: string): Promise<string> {
  const line = `Job ${taskLine(task)}`;
  if (task.end !== undefined) return endReport(line, task, note);
  if (task.terminal !== undefined) {
    const waits = await waitLine(task, undefined);
    const screen = await screenOf(task, 'all');
    return joinSections(line, [screen.shown], waits);
  }
  return joinSections(line, [(await newOutput(task, undefined, PREVIEW_BYTES)).shown]);
}

/**
 * Reports a job with its output since the model has looked.
 *
 * @param event One line about what has happened.
 * @param aim The part that is shown of more output than fits. Default: what was printed last.
 */
export async function jobNews(
  task: Task,
  event: string | undefined,
  aim?: LookAim,
): Promise<string> {
  const line = `Job ${taskLine(task)}`;
  if (task.end !== undefined) return endReport(line, task, event);
  // What it waits for comes first: all that was printed before is then on its screen.
  const waits = await waitLine(task, event);
  const { shown } = await unseenOf(task, aim);
  return joinSections(line, [shown], waits);
}

/** Says what became of the processes that a job had left running when it was cancelled. */
export async function leftNote(task: Task): Promise<string> {
  if (task.state === 'ended') return 'The processes that it had left running have been ended.';
  const members = (await task.members()) ?? [];
  const pids = members.map(({ pid }) => pid).join(', ');
  return `Processes that it had left running could not be ended${pids && `: ${pids}`}.`;
}

function endReport(line: string, task: Task, note?: string): string {
  const end = task.take();
  task.forgetScreen();
  if (end !== undefined) return joinSections(line, [end.text], note);
  const kept = task.end?.kept;
  const where = kept === undefined ? '' : ` It is kept: ${kept}`;
  return joinSections(line, [`Its output was delivered before.${where}`], note);
}
