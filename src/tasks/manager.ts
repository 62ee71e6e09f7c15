import { checkFunction, checkObject, isMissing } from '../support/checks.js';
import { callOut, describeThrown, InputError } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { randomBytes } from '../support/random.js';
import { newestOf } from '../support/text.js';
import { inLaterTurn, refused, startTimer } from '../support/timing.js';
import { DetachedWatches } from './detached/watches/detached-watches.js';
import { TaskLimitError, UnknownTaskError } from './errors.js';
import { TaskEvents, type TaskListener } from './events.js';
import { resolveManagerOptions, type TaskManagerOptions } from './manager-options.js';
import { hostOrder } from './notify/ledger.js';
import type { Notify } from './notify/notify.js';
import { Watches } from './notify/watches.js';
import { startWork, type TaskOptions } from './start.js';
import type { TaskEnd } from './status.js';
import type { TaskSubject } from './subject.js';
import { Task, type TaskWork } from './task.js';

/** Called with a new task, and the command that it follows. */
type TaskFollower = (task: Task, subject: TaskSubject) => void;

/** Keeps the commands that outlive their calls, and for some time those that have ended. */
export class TaskManager {
  /** How many tasks may run at once. */
  readonly maxRunning: number;
  readonly #settings: ReturnType<typeof resolveManagerOptions>;
  readonly #listeners = new Set<TaskListener>();
  readonly #followers = new Set<TaskFollower>();
  readonly #tasks = new Map<string, Task>();
  /** Functions that cancel the removal of an ended task, by its id. */
  readonly #forgetting = new Map<string, () => void>();
  /** The number of tasks that are being started. */
  #starting = 0;
  #disposed = false;
  #lastId = 0;
  /** Detached commands that are watched for its listeners; undefined: it has no name. */
  readonly #detached: DetachedWatches | undefined;

  /**
   * @param within Text before the name of an option in an error message.
   * @throws {InputError} An option is not valid.
   */
  constructor(given: TaskManagerOptions = {}, within = '') {
    this.#settings = resolveManagerOptions(given, within);
    const { maxRunning, onEvent, name } = this.#settings;
    this.maxRunning = maxRunning;
    if (name !== undefined) {
      this.#detached = new DetachedWatches(name, this.#listeners, (id) => this.#tasks.has(id));
    }
    if (onEvent) this.subscribe(onEvent);
  }

  /** The name of the runtime, for watches of detached commands; undefined: it has none. */
  get name(): string | undefined {
    return this.#settings.name;
  }

  /** What is told of each task without a `notify` of its own; undefined: nothing. */
  get notify(): Notify | undefined {
    return this.#settings.notify;
  }

  /** Whether there is a listener to events. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /**
   * Looks for detached commands with watches for this manager's `name`, which another process may have
   * started since. A manager does so by itself when it gets its first listener.
   *
   * @returns How many are watched now.
   * @throws {InputError} The manager has no name.
   */
  resume(): Promise<number> {
    if (this.#detached !== undefined) return this.#detached.resume();
    return refused(new InputError('name: expected a manager with a name, got one without'));
  }

  /**
   * Adds a listener to events of tasks that are started from now on, like `onEvent`.
   *
   * @returns A function that removes it.
   * @throws {InputError} `listener` is not a function.
   */
  subscribe(listener: TaskListener): () => void {
    if (typeof listener !== 'function') checkFunction('listener', listener ?? 'nothing');
    this.#listeners.add(listener);
    this.#detached?.start();
    return () => this.#listeners.delete(listener);
  }

  /**
   * Adds a follower that is called with each task kept from now on, before any other code knows of the
   * task: for remote followers.
   *
   * @returns A function that removes it.
   */
  onTask(follower: TaskFollower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Returns whether another task may run. */
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
   * Starts a command as a task, like `spawn()`: it runs until it ends, its `owner` is disposed of, its
   * `signal` is aborted, or the host ends.
   *
   * ```ts
   * const tasks = new TaskManager({ onEvent: (event) => console.log(event.task.id, event.news) });
   * const server = await tasks.start('npm run dev', { cwd });
   * ```
   *
   * @throws {InputError} An option is not valid; nothing was started.
   * @throws {TaskLimitError} No other task may run; nothing was started.
   * @throws {LaunchError} The command could not be started.
   */
  start(command: string, options: TaskOptions = {}): Promise<Task> {
    return inLaterTurn(() => this.begin(() => startWork(command, options, this.hasListeners)));
  }

  /**
   * Makes a task of work that has been started.
   *
   * @param startedAt When, by the clock of `performance.now()`.
   * @throws {TaskLimitError} No other task may run.
   */
  add(work: TaskWork, startedAt = performance.now()): Task {
    this.checkRoom();
    return this.#keep(work, startedAt);
  }

  /**
   * Makes a task of work that runs in any case, whatever the number of running tasks.
   *
   * @param startedAt When, by the clock of `performance.now()`.
   */
  follow(work: TaskWork, startedAt = performance.now()): Task {
    return this.#keep(work, startedAt);
  }

  /**
   * Starts work and makes a task of it.
   *
   * @throws {TaskLimitError} No other task may run; nothing was started.
   * @throws The error that `start` throws.
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

  /** Lists all kept tasks, in the order in which they were started. */
  list(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  /** Returns the task with this id; undefined when there is none, or no longer. */
  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /**
   * Returns the task with this id.
   *
   * @throws {UnknownTaskError} There is no task with this id.
   */
  find(id: string): Task {
    const task = this.#tasks.get(id);
    if (task !== undefined) return task;
    const ids = newestOf([...this.#tasks.keys()]);
    throw new UnknownTaskError(
      `Unknown id: ${id}. ${ids === '' ? 'Nothing is in the background.' : `Available: ${ids}`}`,
    );
  }

  /** Removes a task from the manager. Returns false when there was none. */
  forget(id: string): boolean {
    this.#forgetting.get(id)?.();
    this.#forgetting.delete(id);
    return this.#tasks.delete(id);
  }

  /** Forgets all tasks that have ended, and running ones as soon as they have. Ends none. */
  dispose(): void {
    this.#disposed = true;
    this.#detached?.stop();
    for (const task of this.#tasks.values()) task.leaveWatches();
    for (const id of [...this.#forgetting.keys()]) this.forget(id);
  }

  /** Resolves when no task's command runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.list().map(({ ended }) => ended));
  }

  #keep(work: TaskWork, startedAt: number): Task {
    const task = this.make(work.id ?? this.#newId(), work, startedAt);
    this.#tasks.set(task.id, task);
    for (const follower of this.#followers) follower(task, work.subject);
    task.ended.then((end) => this.#ended(task, end));
    if (this.#listeners.size > 0) this.#startEvents(task, work);
    return task;
  }

  #startEvents(task: Task, { subject, watches: own }: TaskWork): void {
    const { watch: conditions, notify } = this.#settings;
    const order = own ?? (notify && hostOrder(notify));
    const watches = order && new Watches(subject, order, conditions.ports === true);
    if (watches !== undefined) task.watchBy(watches);
    const told = { subject, status: () => task.status(), conditions, watches };
    new TaskEvents(told, this.#listeners).start();
  }

  /** Makes the task object; for managers with tasks of a subclass. */
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

  /** A task whose processes still run is not forgotten, since they could not be ended any more. */
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
    if (onEnd === undefined || task.isAwaited || task.take('runtime') === undefined) return;
    callOut(
      () => onEnd(task.status(), end),
      (error) => warnHost(`onEnd threw for task ${task.id}: ${describeThrown(error)}`),
    );
  }
}

/**
 * Returns the manager that a tool was given, or a new one.
 *
 * @throws {InputError} `given` is neither a manager nor options of one.
 */
export function taskManagerOf(
  given: TaskManager | TaskManagerOptions | undefined,
  defaults: TaskManagerOptions = {},
): TaskManager {
  if (given instanceof TaskManager) return given;
  if (!isMissing(given)) checkObject('tasks', given);
  return new TaskManager({ ...defaults, ...given }, 'tasks.');
}
