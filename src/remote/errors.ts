/**
 * Nobody is there who could run it, or nobody with the labels that were asked for. Nothing was
 * started.
 */
export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';
}

/** Whoever is there has as much to do as it may. Nothing was started. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** What is known of a command whose worker was lost. */
export interface Lost {
  /** `true`: it ran, by what was heard of it. `unknown`: it may have, nobody heard. */
  readonly started: true | 'unknown';
  /**
   * The last that came of its output: at most 64 KiB, or 8 KiB of a second ago, if nobody listened to
   * it. Of a tool's call only if somebody did.
   */
  readonly output: string;
}

/**
 * Where a command ran is gone, or can't be reached any more: the process, its machine, or the line
 * to it. It ends there, and is never run again by us.
 */
export class WorkerLostError extends Error implements Lost {
  override readonly name = 'WorkerLostError';
  readonly started: true | 'unknown';
  readonly output: string;

  /**
   * Says what is known of the command.
   *
   * @param reason What became of the worker, for people.
   */
  constructor(reason: string, { started, output }: Lost) {
    const what = started === true ? 'The command was started' : 'The command may have been started';
    super(`${what}, and its worker was lost: ${reason}`);
    this.started = started;
    this.output = output;
  }
}
