import { checkFunction, checkObject, isMissing } from '../support/checks.js';
import { callOut, describeThrown } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { randomBytes } from '../support/random.js';
import { newestOf } from '../support/text.js';
import { inLaterTurn, startTimer } from '../support/timing.js';
import { TaskLimitError, UnknownTaskError } from './errors.js';
import { TaskEvents, type TaskListener } from './events.js';
import { resolveManagerOptions, type TaskManagerOptions } from './manager-options.js';
import { startWork, type TaskOptions } from './start.js';
import type { TaskEnd } from './status.js';
import type { TaskSubject } from './subject.js';
import { Task, type TaskWork } from './task.js';

/** Is told of a task, and what it follows. */
type TaskFollower = (task: Task, subject: TaskSubject) => void;

/** Keeps the commands that outlive their calls, and for a while those that have ended. */
export class TaskManager {
  /** How many tasks may run at once. */
  readonly maxRunning: number;
  readonly #settings: ReturnType<typeof resolveManagerOptions>;
  readonly #listeners = new Set<TaskListener>();
  readonly #followers = new Set<TaskFollower>();
  readonly #tasks = new Map<string, Task>();
  /** By id: takes back that a task which has ended will be forgotten. */
  readonly #forgetting = new Map<string, () => void>();
  /** Tasks on their way to be started. */
  #starting = 0;
  #disposed = false;
  #lastId = 0;

  /**
   * @param within What stands before the name of an option in a message about it.
   * @throws {InputError} An option is not valid.
   */
  constructor(given: TaskManagerOptions = {}, within = '') {
    this.#settings = resolveManagerOptions(given, within);
    const { maxRunning, onEvent } = this.#settings;
    this.maxRunning = maxRunning;
    if (onEvent) this.#listeners.add(onEvent);
  }

  /**
   * Tells of tasks that are started from now on, as `onEvent` is told.
   *
   * @returns Stops it.
   * @throws {InputError} It is no function.
   */
  subscribe(listener: TaskListener): () => void {
    if (typeof listener !== 'function') checkFunction('listener', listener ?? 'nothing');
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Tells of each task that is kept from now on, at once and before anybody else knows of it: for
   * those who follow them from elsewhere.
   *
   * @returns Stops it.
   */
  onTask(follower: TaskFollower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Whether another task may run. */
  hasRoom(): boolean {
    return this.#running().length + this.#starting < this.maxRunning;
  }

  /** @throws {TaskLimitError} No other task may run. */
  checkRoom(): void {
    if (this.hasRoom()) return;
    throw new TaskLimitError(
      this.maxRunning,
      this.#running().map(({ id }) => id),
    );
  }

  /**
   * Starts a command that is followed, as `spawn()` starts one: until it ends, its `owner` is
   * disposed of or its `signal` aborted, or the host ends.
   *
   * ```ts
   * const tasks = new TaskManager({ onEvent: (event) => console.log(event.task.id, event.news) });
   * const server = await tasks.start('npm run dev', { cwd });
   * ```
   *
   * @throws {InputError} An option is not valid; nothing was started.
   * @throws {TaskLimitError} No other task may run; nothing was started.
   * @throws {LaunchError} It could not be started.
   */
  start(command: string, options: TaskOptions = {}): Promise<Task> {
    return inLaterTurn(() => this.begin(() => startWork(command, options)));
  }

  /**
   * Makes a task of something that has been started.
   *
   * @param startedAt When, by the clock of `performance.now()`.
   * @throws {TaskLimitError} No other task may run.
   */
  add(work: TaskWork, startedAt = performance.now()): Task {
    this.checkRoom();
    return this.#keep(work, startedAt);
  }

  /**
   * Makes a task of something that runs without it, however many do.
   *
   * @param startedAt When, by the clock of `performance.now()`.
   */
  follow(work: TaskWork, startedAt = performance.now()): Task {
    return this.#keep(work, startedAt);
  }

  /**
   * Starts something and makes a task of it.
   *
   * @throws {TaskLimitError} No other task may run; nothing was started.
   * @throws What `start` throws.
   */
  async begin(start: () => Promise<TaskWork>): Promise<Task> {
    this.checkRoom();
    this.#starting += 1;
    const startedAt = performance.now();
    try {
      return this.#keep(await start(), startedAt);
    } finally {
      this.#starting -= 1;
    }
  }

  /** All tasks that can be asked for, in the order in which they were started. */
  list(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  /** Undefined: there is none with this id, or no longer. */
  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** @throws {UnknownTaskError} There is none with this id. */
  find(id: string): Task {
    const task = this.#tasks.get(id);
    if (task !== undefined) return task;
    const ids = newestOf([...this.#tasks.keys()]);
    throw new UnknownTaskError(
      `Unknown id: ${id}. ${ids === '' ? 'Nothing is in the background.' : `Available: ${ids}`}`,
    );
  }

  /** It cannot be asked for any more; false: it could not before. */
  forget(id: string): boolean {
    this.#forgetting.get(id)?.();
    this.#forgetting.delete(id);
    return this.#tasks.delete(id);
  }

  /** Forgets all tasks that have ended, and those that run as soon as they have. Ends none. */
  dispose(): void {
    this.#disposed = true;
    for (const id of [...this.#forgetting.keys()]) this.forget(id);
  }

  /** Settles when the command of none runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.list().map(({ ended }) => ended));
  }

  #keep(work: TaskWork, startedAt: number): Task {
    const task = this.make(work.id ?? this.#newId(), work, startedAt);
    this.#tasks.set(task.id, task);
    for (const follower of this.#followers) follower(task, work.subject);
    task.ended.then((end) => this.#ended(task, end));
    if (this.#listeners.size > 0) {
      const { subject } = work;
      const told = { subject, status: () => task.status(), conditions: this.#settings.watch };
      new TaskEvents(told, this.#listeners).start();
    }
    return task;
  }

  /** For managers whose tasks can be asked in another way. */
  protected make(id: string, work: TaskWork, startedAt: number): Task {
    return new Task(id, work, startedAt);
  }

  #newId(): string {
    if (this.#settings.ids === 'counted') {
      this.#lastId += 1;
      return `bg_${this.#lastId}`;
    }
    let id: string;
    do id = `task_${randomBytes(4).toString('hex')}`;
    while (this.#tasks.has(id));
    return id;
  }

  #running(): Task[] {
    return this.list().filter(({ end }) => end === undefined);
  }

  /** Not while processes of it still run: nobody could end them any more. */
  #forgetLater(task: Task): void {
    const forget = (): void => {
      if (task.state === 'left') this.#forgetLater(task);
      else this.forget(task.id);
    };
    this.#forgetting.set(task.id, startTimer(this.#settings.keepMs, forget));
  }

  #ended(task: Task, end: TaskEnd): void {
    if (this.#disposed) this.#tasks.delete(task.id);
    else {
      this.#forgetLater(task);
      const over = this.#forgetting.size - this.#settings.maxEnded;
      for (const id of [...this.#forgetting.keys()].slice(0, Math.max(0, over))) this.forget(id);
    }
    const { onEnd } = this.#settings;
    if (onEnd === undefined || task.isAwaited || task.take() === undefined) return;
    callOut(
      () => onEnd(task.status(), end),
      (error) => warnHost(`onEnd threw for task ${task.id}: ${describeThrown(error)}`),
    );
  }
}

/**
 * The manager that a tool was given, or one of its own.
 *
 * @throws {InputError} It is neither a manager nor options of one.
 */
export function taskManagerOf(
  given: TaskManager | TaskManagerOptions | undefined,
  defaults: TaskManagerOptions = {},
): TaskManager {
  if (given instanceof TaskManager) return given;
  if (!isMissing(given)) checkObject('tasks', given);
  return new TaskManager({ ...defaults, ...given }, 'tasks.');
}
