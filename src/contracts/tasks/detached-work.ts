import type { Receipt } from '../../receipt/receipt.js';
import type { DetachedSubject } from '../../tasks/detached/detached-subject.js';
import { untilOver } from '../../tasks/detached/task-end.js';
import { taskLabel } from '../../tasks/label.js';
import type { TaskEnd } from '../../tasks/status.js';
import type { TaskWork } from '../../tasks/task.js';

/** Makes a task of a command that outlives the host. */
export function detachedWork(
  command: string,
  subject: DetachedSubject,
  ended: Promise<TaskEnd>,
): TaskWork {
  return {
    id: subject.id,
    label: taskLabel(command),
    subject,
    ended,
    tail: () => '',
    // Ending the task ends the subject, which is all there is to end.
    cancel: () => {},
    place: async () => ({ path: subject.outputFile, name: subject.outputFile }),
    lifetime: 'detached',
  };
}

/** Resolves with the receipt of such a command when it has ended; undefined: the end is not known. */
export async function endedReceipt(subject: DetachedSubject): Promise<Receipt | undefined> {
  await untilOver(subject);
  const { state } = subject;
  return state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
}
