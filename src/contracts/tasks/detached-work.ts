import type { Receipt } from '../../receipt/receipt.js';
import type { DetachedSubject } from '../../tasks/detached/detached-subject.js';
import { taskLabel } from '../../tasks/label.js';
import type { TaskEnd } from '../../tasks/status.js';
import type { TaskSubject } from '../../tasks/subject.js';
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
    lifetime: 'detached',
  };
}

/** Resolves with the receipt of such a command when it has ended; undefined: the end is not known. */
export async function endedReceipt(subject: DetachedSubject): Promise<Receipt | undefined> {
  await untilOver(subject);
  const { state } = subject;
  return state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
}

/** Settles when the command has ended, or its end cannot be known. Does not keep the host alive. */
function untilOver(subject: TaskSubject): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (subject.state.kind === 'running') return;
      stop();
      resolve();
    };
    const stop = subject.watch(look);
    look();
  });
}
