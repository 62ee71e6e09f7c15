import { messageOf } from '../../support/errors.js';
import type { DetachedSubject } from '../../tasks/detached/detached-subject.js';
import { readOutput } from '../../tasks/output.js';
import { type TaskEnd, taskResult } from '../../tasks/status.js';
import type { TaskWork } from '../../tasks/task.js';
import { afterWarning } from '../notices.js';
import { sandboxNotices } from '../sandbox/denial-notices.js';
import { detachedWork, endedReceipt } from '../tasks/detached-work.js';

/** Bytes of the end of the output that are told with the end of the command. */
const SHOWN_BYTES = 4096;

/** Makes a task of a command in the background, for a runtime that follows tasks. */
export function backgroundWork(
  command: string,
  subject: DetachedSubject,
  encoding: string | undefined,
): TaskWork {
  return detachedWork(command, subject, endOf(subject, encoding));
}

async function endOf(subject: DetachedSubject, encoding: string | undefined): Promise<TaskEnd> {
  const receipt = await endedReceipt(subject);
  const { outputFile: kept } = subject;
  const text = await lastOutput(subject, encoding).catch(
    (error) => `its output can't be read: ${messageOf(error)}`,
  );
  if (receipt === undefined) return { result: 'failed', text, kept };
  const told = receipt.sandbox === undefined ? [] : sandboxNotices(receipt.sandbox);
  const end = taskResult(receipt.outcome);
  const shown = [text, ...told].filter((part) => part !== '').join('\n');
  return { result: end, text: afterWarning(receipt, shown), kept };
}

async function lastOutput(subject: DetachedSubject, encoding: string | undefined): Promise<string> {
  const { total } = await subject.read(Number.MAX_SAFE_INTEGER, 0);
  const last = Math.max(0, total - SHOWN_BYTES);
  // Even, for encodings of two bytes.
  const from = last - (last % 2);
  if (encoding === undefined) {
    const { text } = await readOutput(subject, from, SHOWN_BYTES);
    return from === 0 ? text : wholeLines(text);
  }
  const { bytes } = await subject.read(from, SHOWN_BYTES + 1);
  const text = new TextDecoder(encoding).decode(bytes);
  // A character of the file may have begun before: the first line that is whole has none such.
  return from === 0 ? text : wholeLines(text);
}

/** Returns the lines of a text that may begin within one; of a single line the piece. */
function wholeLines(text: string): string {
  return text.slice(text.indexOf('\n') + 1) || text;
}
