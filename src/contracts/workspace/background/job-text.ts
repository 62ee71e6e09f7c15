import { lastBytes } from '../../../support/text.js';
import type { Task } from '../../../tasks/task.js';
import { formatSeconds, joinSections, outputText } from '../../notices.js';
import { newOutput, taskLine } from '../../tasks/task-text.js';

/** Shown of the output of a job that runs: UTF-8 bytes. */
const PREVIEW_BYTES = 4096;

/**
 * What is said when a command goes on in the background.
 *
 * @param afterMs How long it has run, when it was not started there.
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

/** The last whole lines of what has been printed so far, or a piece of the last one. */
export function preview(tail: string): string {
  const end = lastBytes(tail, PREVIEW_BYTES);
  if (end === tail) return tail;
  return end.slice(end.indexOf('\n') + 1) || end;
}

/** A job with its output: that so far, or once all of it. */
export function jobReport(task: Task): string {
  const line = `Job ${taskLine(task)}`;
  if (task.end === undefined) {
    return joinSections(line, [outputText(preview(task.tail()).trimEnd(), 'running')]);
  }
  return endReport(line, task);
}

/**
 * A job with what it has printed since the model has last looked.
 *
 * @param event What has happened.
 */
export async function jobNews(task: Task, event: string | undefined): Promise<string> {
  const line = `Job ${taskLine(task)}`;
  if (task.end !== undefined) return endReport(line, task);
  return joinSections(line, [outputText(await newOutput(task), 'running')], event);
}

function endReport(line: string, task: Task): string {
  const end = task.take();
  if (end !== undefined) return joinSections(line, [end.text]);
  const kept = task.end?.kept;
  const where = kept === undefined ? '' : ` It is kept: ${kept}`;
  return joinSections(line, [`Its output was delivered before.${where}`]);
}
