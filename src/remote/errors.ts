import { brand } from '../support/errors.js';

/** No worker is there, or none with the requested labels. Nothing was started. */
export class NoWorkerError extends Error {
  static {
    brand(NoWorkerError, 'NoWorkerError');
  }
  override readonly name = 'NoWorkerError';
}

/** Every worker has as many calls as it may have, or too many calls wait. Nothing was started. */
export class BusyError extends Error {
  static {
    brand(BusyError, 'BusyError');
  }
  override readonly name = 'BusyError';
}

/** The facts about a command whose worker was lost. */
export interface Lost {
  /**
   * `true`: the command ran, since the worker had told of it. `unknown`: it may have run; nothing was
   * heard.
   */
  readonly started: true | 'unknown';
  /**
   * The last output that was received: at most 64 KiB; at most 8 KiB, up to a second old, if the caller
   * did not listen to the output. Of a tool's call only if the caller listened.
   */
  readonly output: string;
}

/**
 * The process or the machine where a command ran is gone, or the line to it is broken. The command ends
 * there, and forkline never runs it again.
 */
export class WorkerLostError extends Error implements Lost {
  static {
    brand(WorkerLostError, 'WorkerLostError');
  }
  override readonly name = 'WorkerLostError';
  readonly started: true | 'unknown';
  readonly output: string;

  /**
   * Describes what is known of the command.
   *
   * @param reason The cause of the loss, for people.
   */
  constructor(reason: string, { started, output }: Lost) {
    const what = started === true ? 'The command was started' : 'The command may have been started';
    super(`${what}, and its worker was lost: ${reason}`);
    this.started = started;
    this.output = output;
  }
}
