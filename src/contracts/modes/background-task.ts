import { messageOf } from '../../support/errors.js';
import type { DetachedSubject } from '../../tasks/detached/detached-subject.js';
import { untilOver } from '../../tasks/detached/until-over.js';
import { taskLabel } from '../../tasks/label.js';
import { readOutput } from '../../tasks/output.js';
import { type TaskEnd, taskResult } from '../../tasks/status.js';
import type { TaskWork } from '../../tasks/task.js';
import { afterWarning, sandboxNotices } from '../denial-notices.js';

/** What of its output is given with its end, in bytes: the last. */
const SHOWN_BYTES = 4096;

/** A command in the background as a task, for a runtime that is told of it. */
export function backgroundWork(command: string, subject: DetachedSubject): TaskWork {
  return {
    id: subject.id,
    label: taskLabel(command),
    subject,
    ended: untilOver(subject).then(() => endOf(subject)),
    tail: () => '',
    // What ends it ends the subject as well.
    cancel: () => {},
    lifetime: 'detached',
  };
}

async function endOf(subject: DetachedSubject): Promise<TaskEnd> {
  const { state, outputFile: kept } = subject;
  const receipt = state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
  const text = await lastOutput(subject).catch(
    (error) => `its output can't be read: ${messageOf(error)}`,
  );
  if (receipt === undefined) return { result: 'failed', text, kept };
  const told = receipt.sandbox === undefined ? [] : sandboxNotices(receipt.sandbox);
  const end = taskResult(receipt.outcome);
  const shown = [text, ...told].filter((part) => part !== '').join('\n');
  return { result: end, text: afterWarning(receipt, shown), kept };
}

async function lastOutput(subject: DetachedSubject): Promise<string> {
  const { total } = await subject.read(Number.MAX_SAFE_INTEGER, 0);
  return (await readOutput(subject, Math.max(0, total - SHOWN_BYTES), SHOWN_BYTES)).text;
}
