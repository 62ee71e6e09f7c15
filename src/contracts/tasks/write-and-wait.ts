import { hasCode, InputError } from '../../support/errors.js';
import type { Task } from '../../tasks/task.js';
import { awaitedText, type UntilInput, untilOf } from './until.js';

/** What is waited for after a text was written, unless something else is asked for. */
export const WRITE_WAIT: UntilInput = { silent: 0.5, seconds: 10 };

/** What Ctrl-C sends: without a terminal, nobody would make a signal of it. */
const INTERRUPT = '\x03';

/**
 * Writes a model's text to a task, or interrupts it, and waits for what comes of it.
 *
 * @returns What has happened then, on one line; undefined: it has ended.
 * @throws {InputError} It takes no input, or no longer.
 * @throws What the signal was aborted with.
 */
export async function writeTo(
  task: Task,
  text: string,
  input: UntilInput,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const until = untilOf(input, 10);
  // Only what comes after it is an answer to it.
  const { total: since } = await task.read({ since: task.seen, maxBytes: 4 });
  if (text === INTERRUPT) await task.signal('SIGINT');
  else await write(task, text);
  const awaited = await task.wait(until, { since, signal });
  return awaitedText(awaited, until);
}

async function write(task: Task, text: string): Promise<void> {
  try {
    await task.write(text);
  } catch (error) {
    if (!hasCode(error, 'EPIPE')) throw error;
    throw new InputError(`${task.id}: it has ended or closed its stdin, and reads no more`);
  }
}
