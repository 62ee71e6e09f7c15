import { checkFunction, type OptionNames, readOptions, wholeFrom } from '../support/checks.js';
import { callOut, describeThrown } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { newestOf } from '../support/text.js';
import { startTimer } from '../support/timing.js';
import { Job, type JobEnd, type JobStatus, type JobWork } from './job.js';

/** Options of a job manager. Times in milliseconds. */
export interface JobManagerOptions {
  /** How many jobs may run at once. Default: 15. */
  readonly maxRunning?: number | undefined;
  /** How long a job that has ended can still be asked for. Default: 300,000 (5 minutes). */
  readonly keepMs?: number | undefined;
  /**
   * Is told the end of each job that nobody waits for with the `job` tool, so that the runtime can
   * tell the model. The `job` tool does not give that end again.
   */
  readonly onEnd?: ((status: JobStatus, end: JobEnd) => void) | undefined;
}

const NAMES: OptionNames<JobManagerOptions> = { maxRunning: true, keepMs: true, onEnd: true };

/** As many jobs run as may. The message is for the model. */
export class JobLimitError extends Error {
  override readonly name = 'JobLimitError';
}

/** There is no such job. The message is for the model: it says which there are. */
export class UnknownJobError extends Error {
  override readonly name = 'UnknownJobError';
}

/** Keeps the commands that run in the background, and for a while those that did. */
export class JobManager {
  readonly #maxRunning: number;
  readonly #keepMs: number;
  readonly #onEnd: JobManagerOptions['onEnd'];
  readonly #jobs = new Map<string, Job>();
  /** By id: takes back that a job which has ended will be forgotten. */
  readonly #forgetting = new Map<string, () => void>();
  #disposed = false;
  #lastId = 0;

  /** @throws {InputError} An option is not valid. */
  constructor(given: JobManagerOptions = {}) {
    const options = readOptions('options', given, NAMES);
    checkFunction('onEnd', options.onEnd);
    this.#maxRunning = wholeFrom('maxRunning', 1, options.maxRunning ?? 15);
    this.#keepMs = wholeFrom('keepMs', 1, options.keepMs ?? 300_000);
    this.#onEnd = options.onEnd ?? undefined;
  }

  /** Whether another job may run. */
  hasRoom(): boolean {
    return this.#running().length < this.#maxRunning;
  }

  /** @throws {JobLimitError} No other job may run. */
  checkRoom(): void {
    if (this.hasRoom()) return;
    const ids = this.#running().map(({ id }) => id);
    throw new JobLimitError(
      `Too many background jobs: ${ids.length} are running, and no more may. ` +
        `Wait for one or cancel one with the job tool: ${newestOf(ids)}`,
    );
  }

  /**
   * Makes a job of something that has been started.
   *
   * @param startedAt When, by the clock of `performance.now()`.
   * @throws {JobLimitError} No other job may run.
   */
  add(work: JobWork, startedAt = performance.now()): Job {
    this.checkRoom();
    this.#lastId += 1;
    const job = new Job(`bg_${this.#lastId}`, work, startedAt);
    this.#jobs.set(job.id, job);
    job.ended.then((end) => this.#ended(job, end));
    return job;
  }

  /** All jobs that can be asked for, by ascending ids. */
  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  /** @throws {UnknownJobError} There is none with this id. */
  find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job !== undefined) return job;
    const ids = newestOf([...this.#jobs.keys()]);
    throw new UnknownJobError(
      `Unknown job id: ${id}. ${ids === '' ? 'There are no background jobs.' : `Available: ${ids}`}`,
    );
  }

  /** Forgets all jobs that have ended, and those that run as soon as they have. */
  dispose(): void {
    this.#disposed = true;
    for (const [id, stop] of this.#forgetting) {
      stop();
      this.#jobs.delete(id);
    }
    this.#forgetting.clear();
  }

  #running(): Job[] {
    return this.list().filter(({ end }) => end === undefined);
  }

  #forget(id: string): void {
    this.#jobs.delete(id);
    this.#forgetting.delete(id);
  }

  #ended(job: Job, end: JobEnd): void {
    if (this.#disposed) this.#jobs.delete(job.id);
    else
      this.#forgetting.set(
        job.id,
        startTimer(this.#keepMs, () => this.#forget(job.id)),
      );
    const onEnd = this.#onEnd;
    if (onEnd === undefined || job.isAwaited || job.take() === undefined) return;
    callOut(
      () => onEnd(job.status(), end),
      (error) => warnHost(`onEnd threw for job ${job.id}: ${describeThrown(error)}`),
    );
  }
}
