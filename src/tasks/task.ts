import { FollowedTask, type StopOptions, type WaitOptions } from './followed-task.js';
import type { TaskOutput } from './output.js';
import { readOutput } from './output.js';
import type { TaskEnd, TaskLifetime, TaskState, TaskStatus } from './status.js';
import type { TaskSubject } from './subject.js';
import type { Awaited, Until } from './wait.js';

/** A command that outlives its call. */
export interface TaskWork {
  /** Default: one of the manager's. */
  readonly id?: string | undefined;
  /** What it is, on one line. */
  readonly label: string;
  /** The command itself. */
  readonly subject: TaskSubject;
  /** Settles when its command has ended; never rejects. */
  readonly ended: Promise<TaskEnd>;
  /** The last of what it has printed so far, as it is shown. */
  readonly tail: () => string;
  /** Ends its command; what that has left when it has ended already is the subject's to end. */
  readonly cancel: () => void;
  /** Default: 'tool'. */
  readonly lifetime?: TaskLifetime | undefined;
}

/** A command that outlives its call: it can be followed, waited for, and acted upon. */
export class Task extends FollowedTask {
  /** What it is, on one line. */
  readonly label: string;
  /** Undefined once it is over: what it has kept of its output is let go. */
  #work: TaskWork | undefined;
  #ended: Promise<TaskEnd>;
  /** Until when it may run. */
  readonly lifetime: TaskLifetime;
  readonly #startedAt: number;
  #over: { readonly end: TaskEnd; readonly at: number } | undefined;
  #delivered = false;
  #waiting = 0;
  /** Up to where a model has seen its output. */
  #seen = 0;

  /** @param startedAt By the clock of `performance.now()`. */
  constructor(id: string, work: TaskWork, startedAt: number) {
    super(id, work.subject);
    this.label = work.label;
    this.#work = work;
    this.lifetime = work.lifetime ?? 'tool';
    this.#startedAt = startedAt;
    this.#ended = work.ended.then((end) => {
      this.#over = { end, at: performance.now() };
      this.#work = undefined;
      return end;
    });
  }

  /** Settles when its command is over, with how it ended: see `end`. Never rejects. */
  get ended(): Promise<TaskEnd> {
    return this.#ended;
  }

  /** Undefined while its command runs; without its text once that has been delivered. */
  get end(): TaskEnd | undefined {
    return this.#over?.end;
  }

  override get state(): TaskState {
    if (this.#over === undefined) return 'running';
    const { kind } = this.followed.state;
    return kind === 'running' ? 'ended' : kind;
  }

  /** Whether its end is there and nobody has been told. */
  get hasNews(): boolean {
    return this.#over !== undefined && !this.#delivered;
  }

  /** Whether somebody waits for its end, and will take it. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  /** How it stands now. */
  status(): TaskStatus {
    return {
      id: this.id,
      type: 'bash',
      state: this.state,
      ...(this.#over && { result: this.#over.end.result }),
      label: this.label,
      lifetime: this.lifetime,
      durationMs: (this.#over?.at ?? performance.now()) - this.#startedAt,
    };
  }

  /** The last of what it has printed so far; empty once its command is over. */
  tail(): string {
    return this.#work?.tail() ?? '';
  }

  /**
   * What it has printed since a model has last looked; it has been seen then.
   *
   * @param part Of more than so many bytes the beginning, with the rest for the next look, or the end.
   */
  async readNew(maxBytes: number, part: 'first' | 'last'): Promise<TaskOutput> {
    const seen = this.#seen;
    const first = await readOutput(this.followed, seen, maxBytes);
    const isAll = part === 'first' || first.cursor >= first.total;
    const since = Math.max(seen, first.total - maxBytes);
    const output = isAll ? first : await readOutput(this.followed, since, maxBytes);
    this.#seen = Math.max(this.#seen, output.cursor);
    return isAll ? output : { ...output, missedBytes: output.missedBytes + since - seen };
  }

  /** Up to where a model has seen its output. */
  get seen(): number {
    return this.#seen;
  }

  /** Its end is there as well, when that is what has happened. */
  override async wait(until?: Until, options?: WaitOptions): Promise<Awaited> {
    const awaited = await super.wait(until, options);
    if (this.followed.state.kind !== 'running') await this.#ended;
    return awaited;
  }

  override async stop(options?: StopOptions): Promise<void> {
    const ended = super.stop(options);
    this.#work?.cancel();
    await Promise.all([ended, this.#ended]);
  }

  /** Its end, for the first who asks; undefined while it runs, and for those who come later. */
  take(): TaskEnd | undefined {
    if (this.#over === undefined || this.#delivered) return undefined;
    this.#delivered = true;
    const { end, at } = this.#over;
    const delivered = { ...end, text: '' };
    this.#over = { end: delivered, at };
    this.#ended = Promise.resolve(delivered);
    return end;
  }

  /** As long as `work` takes, its end is for whoever does it. */
  async whileAwaited<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
    }
  }
}
