import { lastBytes } from '../../../support/text.js';
import type { LookAim } from '../../../tasks/look/windows.js';
import type { Task } from '../../../tasks/task.js';
import { formatSeconds, joinSections, outputText } from '../../notices.js';
import { newOutput, taskLine } from '../../tasks/task-text.js';

/** UTF-8 bytes that are shown of a running job's output. */
const PREVIEW_BYTES = 4096;

/**
 * Says that a command runs in the background.
 *
 * @param afterMs The time that it has run, in milliseconds, if it was not started in the background.
 */
export function startedText(id: string, label: string, afterMs?: number): string {
  const seconds = afterMs === undefined ? '' : formatSeconds(afterMs / 1000);
  return (
    (afterMs === undefined
      ? `Background job ${id} started: ${label}\n`
      : `Still running after ${seconds}; it goes on as background job ${id}: ${label}\n`) +
    `To wait for it, call the job tool with {"poll": ["${id}"]}; {"list": true} shows all jobs.`
  );
}

/** Returns the last whole lines of the output so far, or a piece of the last one. */
export function preview(tail: string): string {
  const end = lastBytes(tail, PREVIEW_BYTES);
  if (end === tail) return tail;
  return end.slice(end.indexOf('\n') + 1) || end;
}

/** Reports a job with its output: the output so far, or after its end once all of it. */
export function jobReport(task: Task): string {
  const line = `Job ${taskLine(task)}`;
  if (task.end === undefined) {
    return joinSections(line, [outputText(preview(task.tail()).trimEnd(), 'running')]);
  }
  return endReport(line, task);
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
  return joinSections(line, [(await newOutput(task, aim)).shown], event);
}

function endReport(line: string, task: Task, event?: string): string {
  const end = task.take();
  if (end !== undefined) return joinSections(line, [end.text], event);
  const kept = task.end?.kept;
  const where = kept === undefined ? '' : ` It is kept: ${kept}`;
  return joinSections(line, [`Its output was delivered before.${where}`], event);
}
