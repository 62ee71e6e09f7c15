import { ExclusiveQueue } from '../support/mutex.js';
import type { ScreenNews } from '../terminal/screen/screen-news.js';
import { FollowedTask, type StopOptions, type WaitOptions } from './followed-task.js';
import {
  LOOK_BYTES,
  lookAt,
  type OutputPlace,
  placeWithSize,
  type SeenOutput,
  type SizedPlace,
  type TaskLook,
} from './look/look.js';
import type { LookAim } from './look/windows.js';
import type { WatchOrder } from './notify/ledger.js';
import type { Watches } from './notify/watches.js';
import type { TaskEnd, TaskLifetime, TaskState, TaskStatus } from './status.js';
import type { TaskSubject } from './subject.js';
import type { Awaited, Until } from './wait.js';

/** A command that outlives its call. */
export interface TaskWork {
  /** The task's id. Default: one of the manager's. */
  readonly id?: string | undefined;
  /** A short description, on one line. */
  readonly label: string;
  /** The command itself. */
  readonly subject: TaskSubject;
  /** Resolves when its command has ended; never rejects. */
  readonly ended: Promise<TaskEnd>;
  /** Returns the last part of its output so far, as it is shown. */
  readonly tail: () => string;
  /** Ends its command; processes that a finished command has left are ended by the subject. */
  readonly cancel: () => void;
  /** Returns where its output can be read while it runs. Default: nowhere. */
  readonly place?: (() => Promise<OutputPlace | undefined>) | undefined;
  /** How long it may run. Default: 'tool'. */
  readonly lifetime?: TaskLifetime | undefined;
  /** What is to be told of it, once each. Default: nothing besides the events of all tasks. */
  readonly watches?: WatchOrder | undefined;
}

/** A command that outlives its call: it can be followed, waited for, and controlled. */
export class Task extends FollowedTask {
  /** A short description, on one line. */
  readonly label: string;
  /** Undefined once the command has ended, so that its kept output is freed. */
  #work: TaskWork | undefined;
  #ended: Promise<TaskEnd>;
  /** How long it may run. */
  readonly lifetime: TaskLifetime;
  readonly #startedAt: number;
  #over: { readonly end: TaskEnd; readonly at: number } | undefined;
  #delivered = false;
  #waiting = 0;
  /** How far a model has seen its output. */
  #seen: SeenOutput = { position: 0, newlines: 0 };
  readonly #looks = new ExclusiveQueue();
  #watches: Watches | undefined;

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

  /** Resolves when its command has ended, with its end: see `end`. Never rejects. */
  get ended(): Promise<TaskEnd> {
    return this.#ended;
  }

  /** The end of its command; undefined while that runs; without its text once that was delivered. */
  get end(): TaskEnd | undefined {
    return this.#over?.end;
  }

  override get state(): TaskState {
    if (this.#over === undefined) return 'running';
    const { kind } = this.followed.state;
    return kind === 'running' ? 'ended' : kind;
  }

  /** Returns whether the command has ended and its end was not delivered yet. */
  get hasNews(): boolean {
    return this.#over !== undefined && !this.#delivered;
  }

  /** Returns whether a caller waits for its end, and will take it. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  /** Returns the task's current status. */
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

  /** Returns the last part of its output so far; empty once its command has ended. */
  tail(): string {
    return this.#work?.tail() ?? '';
  }

  /**
   * Shows the output that no model has seen yet, and counts it as seen; of more than `maxBytes` the part that
   * `aim` says.
   */
  look(aim: LookAim = { kind: 'end' }, maxBytes = LOOK_BYTES): Promise<TaskLook> {
    // One after the other: what one look shows, no other does.
    return this.#looks.run(async () => {
      const { look, seen } = await lookAt(this.followed, this.#seen, aim, maxBytes);
      this.#seen = seen;
      const skips = look.parts.some(({ kind }) => kind === 'skipped');
      return skips ? { ...look, place: await this.#place() } : look;
    });
  }

  /** Returns where its output can be read, and how much of it is there. */
  async #place(): Promise<SizedPlace | undefined> {
    const place = this.#work === undefined ? this.#keptPlace() : await this.#work.place?.();
    return place && placeWithSize(place, this.followed);
  }

  #keptPlace(): OutputPlace | undefined {
    const path = this.outputFile;
    return path === undefined ? undefined : { path, name: this.#over?.end.kept ?? path };
  }

  /**
   * Returns what its terminal shows, and counts it as told.
   *
   * @param wanted `new`: what no model has been told yet; `all`: the screen, and the lines above it that are
   * kept.
   * @throws {InputError} The task was not started with `pty`.
   */
  async screenNews(wanted: 'new' | 'all' = 'new'): Promise<ScreenNews> {
    const news = await this.screenFor('screenNews').look(wanted);
    // All of the output so far is on that screen.
    const { total } = await this.followed.read(Number.MAX_SAFE_INTEGER, 1);
    if (total > this.#seen.position) this.#seen = { position: total, newlines: undefined };
    return news;
  }

  /** The position up to which a model has seen its output. */
  get seen(): number {
    return this.#seen.position;
  }

  /** Waits as the base class does; when the command has ended, `end` is set too. */
  override async wait(until: Until = {}, options?: WaitOptions): Promise<Awaited> {
    // A tool tells what it has waited for, and then no watch does.
    const isOver = this.isAwaited ? this.#watches?.awaiting(until) : undefined;
    let awaited: Awaited | undefined;
    try {
      awaited = await super.wait(until, options);
      if (this.followed.state.kind !== 'running') await this.#ended;
      return awaited;
    } finally {
      isOver?.(awaited);
    }
  }

  override async stop(options?: StopOptions): Promise<void> {
    const ended = super.stop(options);
    this.#work?.cancel();
    // A tool that ends a task tells its end.
    if (this.isAwaited) this.#watches?.endTold();
    await Promise.all([ended, this.#ended]);
  }

  /** Gives it the watches that were asked for at its start. */
  watchBy(watches: Watches): void {
    this.#watches = watches;
  }

  /** Leaves its watches to another host, if one can tell them. */
  leaveWatches(): void {
    this.#watches?.leave();
  }

  /**
   * Returns its end to the first caller; undefined while it runs, and to later callers.
   *
   * @param by Whether it goes to a tool's answer, or to the runtime.
   */
  take(by: 'tool' | 'runtime' = 'tool'): TaskEnd | undefined {
    if (this.#over === undefined || this.#delivered) return undefined;
    this.#delivered = true;
    if (by === 'tool') this.#watches?.endTold();
    const { end, at } = this.#over;
    const delivered = { ...end, text: '' };
    this.#over = { end: delivered, at };
    this.#ended = Promise.resolve(delivered);
    return end;
  }

  /** Does `work`; an end that comes meanwhile is for the caller of this method. */
  async whileAwaited<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
    }
  }
}
