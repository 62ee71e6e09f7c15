import { hasCode, InputError } from '../../support/errors.js';
import type { LookAim } from '../../tasks/look/windows.js';
import type { Task } from '../../tasks/task.js';
import { aimOf, awaitedText, type UntilInput, untilOf } from './until.js';

/** The wait after a text was written, unless the model asks for another. */
export const WRITE_WAIT: UntilInput = { silent: 0.5, seconds: 10 };

/** How a task has reacted to a text. */
interface Reaction {
  /** One line about what has happened; undefined: the task has ended. */
  readonly event: string | undefined;
  /** What a look is to show: the first output after the text, unless a line was found. */
  readonly aim: LookAim;
}

/** The character that Ctrl-C sends; without a terminal, no driver makes a signal of it. */
const INTERRUPT = '\x03';

/**
 * Writes a model's text to a task, or interrupts it, and waits for the reaction.
 *
 * @returns One line about what has happened, and what a look is to show of it.
 * @throws {InputError} The task takes no input, or no longer.
 * @throws What the signal was aborted with.
 */
export async function writeTo(
  task: Task,
  text: string,
  input: UntilInput,
  signal: AbortSignal | undefined,
): Promise<Reaction> {
  const until = untilOf(input, 10);
  // Only output after this point can be a reaction.
  const { total: since } = await task.read({ since: task.seen, maxBytes: 4 });
  if (text === INTERRUPT) await task.signal('SIGINT');
  else await write(task, text);
  const awaited = await task.wait(until, { since, signal });
  return { event: awaitedText(awaited, until), aim: aimOf(awaited) ?? { kind: 'reply', since } };
}

async function write(task: Task, text: string): Promise<void> {
  try {
    await task.write(text);
  } catch (error) {
    if (!hasCode(error, 'EPIPE')) throw error;
    throw new InputError(`${task.id}: it has ended, or has closed its stdin`);
  }
}
