import { brand } from '../support/errors.js';
import { newestOf } from '../support/text.js';

/** The limit of running tasks is reached. The message is for the model. */
export class TaskLimitError extends Error {
  static {
    brand(TaskLimitError, 'TaskLimitError');
  }
  override readonly name = 'TaskLimitError';
  /** The number of tasks that may run at once. */
  readonly maxRunning: number;
  /** Ids of the running tasks; those being started have none yet. */
  readonly running: readonly string[];

  /** Creates an error that names the limit, and the running tasks. */
  constructor(maxRunning: number, running: readonly string[]) {
    const ids = newestOf(running);
    super(
      `Too many commands in the background: ${maxRunning} run, which is the most. This one was ` +
        `not run. Wait for one or end one${ids === '' ? '' : `: ${ids}`}`,
    );
    this.maxRunning = maxRunning;
    this.running = running;
  }
}

/** There is no such task. The message is for the model: it lists the tasks there are. */
export class UnknownTaskError extends Error {
  static {
    brand(UnknownTaskError, 'UnknownTaskError');
  }
  override readonly name = 'UnknownTaskError';
}
