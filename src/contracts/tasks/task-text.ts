import { formatSize } from '../../support/text.js';
import type { Task } from '../../tasks/task.js';

/** What is shown at a time of what a task has newly printed: UTF-8 bytes. */
const NEW_BYTES = 16 * 1024;
/** One task for a list. */
export function taskLine(task: Task): string {
  const { id, result = 'running', label, durationMs } = task.status();
  const time = `${(durationMs / 1000).toFixed(2)} seconds`;
  switch (task.state) {
    case 'running':
      return `${id} running for ${time}: ${label}`;
    case 'ended':
      return `${id} ${result} after ${time}: ${label}`;
    // Whoever reads that it has completed would take it that nothing runs.
    case 'left':
      return `${id} ended after ${time}, and processes of it still run: ${label}`;
    case 'lost':
      return `${id} ended after ${time}, and whether processes of it still run is not known: ${label}`;
  }
}

/**
 * What a task has printed since a model has last looked, without the newlines at its end. Of more than
 * fits the rest is for the next look; of one whose command has ended there is none, and the end is
 * shown.
 */
export async function newOutput(task: Task): Promise<string> {
  const isRunning = task.end === undefined;
  const part = isRunning ? 'first' : 'last';
  const { text, cursor, missedBytes, total } = await task.readNew(NEW_BYTES, part);
  const gap = missedBytes > 0 ? `[… ${formatSize(missedBytes)} not shown …]\n` : '';
  const shown = `${gap}${text}`.trimEnd();
  const rest = total - cursor;
  // A character may not be whole yet.
  return rest < 4 ? shown : `${shown}\n[${formatSize(rest)} more: look again]`;
}
