import { formatSize } from '../../support/text.js';
import type { Task } from '../../tasks/task.js';

/** UTF-8 bytes of new output that are shown at a time. */
const NEW_BYTES = 16 * 1024;

/** Describes a task in one line, for a list. */
export function taskLine(task: Task): string {
  const { id, result = 'running', label, durationMs } = task.status();
  const time = `${(durationMs / 1000).toFixed(2)} seconds`;
  switch (task.state) {
    case 'running':
      return `${id} running for ${time}: ${label}`;
    case 'ended':
      return `${id} ${result} after ${time}: ${label}`;
    // 'completed' would say that nothing of it runs any more.
    case 'left':
      return `${id} ended after ${time}, and processes of it still run: ${label}`;
    case 'lost':
      return `${id} ended after ${time}, and whether processes of it still run is not known: ${label}`;
  }
}

/**
 * Reads what a task has printed since the model looked last, without the newlines at the end. When there is
 * more than fits, a running task keeps the rest for the next look; of one whose command has ended, the last
 * part is shown.
 */
export async function newOutput(task: Task): Promise<string> {
  const isRunning = task.end === undefined;
  const part = isRunning ? 'first' : 'last';
  const { text, cursor, missedBytes, total } = await task.readNew(NEW_BYTES, part);
  const gap = missedBytes > 0 ? `[… ${formatSize(missedBytes)} not shown …]\n` : '';
  const shown = `${gap}${text}`.trimEnd();
  const rest = total - cursor;
  // Up to three bytes may be the beginning of a character.
  return rest < 4 ? shown : `${shown}\n[${formatSize(rest)} more: look again]`;
}
