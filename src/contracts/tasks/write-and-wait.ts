import { checkExtent } from '../../options/terminal.js';
import { hasCode, InputError } from '../../support/errors.js';
import { settlesWithin } from '../../support/timing.js';
import type { LookAim } from '../../tasks/look/windows.js';
import type { Task } from '../../tasks/task.js';
import { aimOf, awaitedText, type UntilInput, untilOf } from './until.js';

/** The wait after something was written, unless the model asks for another. */
export const WRITE_WAIT: UntilInput = { silent: 0.5, seconds: 10 };

/** How a task has reacted to a text. */
interface Reaction {
  /** One line about what has happened; undefined: the task has ended. */
  readonly event: string | undefined;
  /** The part that a look is to show: the first output after the text, unless a line was found. */
  readonly aim: LookAim;
}

/** The character that Ctrl-C sends; without a terminal, no driver makes a signal of it. */
const INTERRUPT = '\x03';

/** How long the end of a task that takes no input any more may take to be known, in milliseconds. */
const END_PATIENCE_MS = 2000;

/** What a model writes to a task, in this order, all optional. */
export interface TaskWriting {
  /** Columns of its terminal from now on. */
  readonly columns?: number | undefined;
  /** Rows of its terminal from now on. */
  readonly rows?: number | undefined;
  /** Text for its stdin, or typed into its terminal, where a newline is Enter. */
  readonly text?: string | undefined;
  /** Names of keys that are pressed after the text. */
  readonly keys?: readonly string[] | undefined;
}

/** Fields of a tool's input for {@link TaskWriting}. */
export const WRITING_PROPERTIES = {
  text: { type: 'string', description: 'A line ends with a newline' },
  keys: {
    type: 'array',
    items: { type: 'string' },
    description: 'Then keys: `ctrl-c`, `ctrl-d` (ends stdin), `enter`, `escape`, `up`, `f1`',
  },
  columns: { type: 'integer' },
  rows: { type: 'integer' },
} satisfies Record<keyof TaskWriting, object>;

/** What a command of this tool may be started with, for advice: a terminal or a stdin, or neither. */
export type OfferedInput = 'pty' | 'none';

/**
 * Writes what a model wants to a task, or interrupts it, and waits for the reaction.
 *
 * @returns One line about what has happened, and what a look is to show of it.
 * @throws {InputError} Nothing is to be written, or the task takes no such input.
 * @throws What the signal was aborted with.
 */
export async function writeTo(
  task: Task,
  writing: TaskWriting,
  offered: OfferedInput,
  input: UntilInput,
  signal: AbortSignal | undefined,
): Promise<Reaction> {
  // Nothing is written to a task that is gone: its end is the answer.
  if (task.end !== undefined) return { event: undefined, aim: { kind: 'end' } };
  checkWriting(task, writing, offered);
  const until = untilOf(input, 10);
  // Only output after this point can be a reaction.
  const { total: since } = await task.read({ since: task.seen, maxBytes: 4 });
  try {
    await write(task, writing);
  } catch (error) {
    if (!hasCode(error, 'EPIPE') && !hasCode(error, 'EIO')) throw error;
    if (await settlesWithin(task.ended, END_PATIENCE_MS, 'keepsAlive')) {
      return { event: undefined, aim: { kind: 'reply', since } };
    }
    throw new InputError(`${task.id}: its stdin is closed, so nothing more can be written to it`);
  }
  const awaited = await task.wait(until, { since, signal });
  return { event: awaitedText(awaited, until), aim: aimOf(awaited) ?? { kind: 'reply', since } };
}

/** @throws {InputError} Nothing is to be written, or the task takes no such input. */
function checkWriting(
  task: Task,
  { text, keys = [], columns, rows }: TaskWriting,
  offered: OfferedInput,
): void {
  const isResized = columns !== undefined || rows !== undefined;
  if (text === undefined && keys.length === 0 && !isResized) {
    throw new InputError('text: expected a text, or `keys` in its place, got neither');
  }
  if (columns !== undefined) checkExtent('columns', columns);
  if (rows !== undefined) checkExtent('rows', rows);
  if (isResized && task.terminal === undefined) {
    throw new InputError(`${task.id}: it has no terminal that could be resized.`);
  }
  const isInterrupt =
    (text === undefined || text === '' || text === INTERRUPT) &&
    keys.every((key) => key === 'ctrl-c');
  if (task.takesInput !== false || isInterrupt) return;
  throw new InputError(`${task.id}: it has no stdin. ${ADVICE[offered]}`);
}

const ADVICE: Readonly<Record<OfferedInput, string>> = {
  pty:
    'End it, and start its command again with `stdin: true` to write to it, or with `pty: true` for a ' +
    'terminal.',
  none: 'End it, and give its command what it asks for as arguments, or by a pipe (`echo y | …`).',
};

async function write(
  task: Task,
  { text = '', keys = [], columns, rows }: TaskWriting,
): Promise<void> {
  const { terminal } = task;
  if (terminal !== undefined && (columns !== undefined || rows !== undefined)) {
    await task.resize(columns ?? terminal.columns, rows ?? terminal.rows);
  }
  if (text === INTERRUPT && terminal === undefined) await task.signal('SIGINT');
  // Enter sends a carriage return: programs that take keys one by one take a newline for another key.
  else if (text !== '') await task.write(terminal ? text.replace(/\r?\n/g, '\r') : text);
  if (keys.length > 0) await task.press(keys);
}
