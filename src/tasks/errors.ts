import { newestOf } from '../support/text.js';

/** As many tasks run as may. The message is for the model. */
export class TaskLimitError extends Error {
  override readonly name = 'TaskLimitError';
  /** How many may run. */
  readonly maxRunning: number;
  /** Those that do; the ones on their way have no id yet. */
  readonly running: readonly string[];

  /** An error that names the limit, and the tasks that run. */
  constructor(maxRunning: number, running: readonly string[]) {
    const ids = newestOf(running);
    super(
      `Too many commands in the background: ${maxRunning} run, and no more may. This one was ` +
        `not run. Wait for one or end one${ids === '' ? '' : `: ${ids}`}`,
    );
    this.maxRunning = maxRunning;
    this.running = running;
  }
}

/** There is no such task. The message is for the model: it says which there are. */
export class UnknownTaskError extends Error {
  override readonly name = 'UnknownTaskError';
}
