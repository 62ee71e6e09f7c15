import type { Job, JobStatus } from '../../../jobs/job.js';
import { lastBytes } from '../../../support/text.js';
import { formatSeconds, joinSections, outputText } from '../../notices.js';

/** Shown of the output of a job that runs: UTF-8 bytes. */
const PREVIEW_BYTES = 4096;
const LABEL_CHARACTERS = 120;

/** A command as a job's label: on one line, of at most 120 characters. */
export function jobLabel(command: string): string {
  const characters = [...command.trim().replace(/\s+/g, ' ')];
  if (characters.length <= LABEL_CHARACTERS) return characters.join('');
  return `${characters.slice(0, LABEL_CHARACTERS - 1).join('')}…`;
}

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

/** One job for a list. */
export function jobLine({ id, state, label, durationMs }: JobStatus): string {
  const time = `${(durationMs / 1000).toFixed(2)} seconds`;
  return state === 'running'
    ? `${id} running for ${time}: ${label}`
    : `${id} ${state} after ${time}: ${label}`;
}

/** A job with its output: that so far, or once all of it. */
export function jobReport(job: Job): string {
  const line = `Job ${jobLine(job.status())}`;
  if (job.end === undefined) {
    return joinSections(line, [outputText(preview(job.tail()).trimEnd(), 'running')]);
  }
  const end = job.take();
  return joinSections(line, [end?.text ?? 'Its output was delivered before.']);
}
