import {
  atLeast,
  checkFunction,
  checkObject,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import { callOut, describeThrown, InputError, showValue } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { randomBytes } from '../support/random.js';
import { newestOf } from '../support/text.js';
import { startTimer } from '../support/timing.js';
import { TaskEvents, type TaskListener } from './events.js';
import type { LookoutConditions } from './lookout/lookout.js';
import type { TaskEnd, TaskStatus } from './status.js';
import { Task, type TaskWork } from './task.js';

/** Options of a task manager. Times in milliseconds. */
export interface TaskManagerOptions {
  /** How many tasks may run at once. Default: 15. */
  readonly maxRunning?: number | undefined;
  /** How long a task that has ended can still be asked for. Default: 300,000 (5 minutes). */
  readonly keepMs?: number | undefined;
  /** How many tasks that have ended can be asked for; of more, the oldest are forgotten. Default: no limit. */
  readonly maxEnded?: number | undefined;
  /**
   * Is told the end of each task that no tool waits for, so that the runtime can tell the model. The
   * tools do not give that end again.
   */
  readonly onEnd?: ((status: TaskStatus, end: TaskEnd) => void) | undefined;
  /** Is told of everything that happens to each task, at most every 200 ms: output, news, ends. */
  readonly onEvent?: TaskListener | undefined;
  /** What counts as news for `onEvent`, besides the ends. Default: ports. */
  readonly watch?: LookoutConditions | undefined;
  /** `bg_1`, `bg_2`, … or `task_1f0c9a3b`, which nobody can guess. Default: 'counted'. */
  readonly ids?: 'counted' | 'random' | undefined;
}

const NAMES: OptionNames<TaskManagerOptions> = {
  maxRunning: true,
  keepMs: true,
  maxEnded: true,
  onEnd: true,
  onEvent: true,
  watch: true,
  ids: true,
};
const WATCH_NAMES: OptionNames<LookoutConditions> = { lines: true, ports: true, silentMs: true };

/** As many tasks run as may. The message is for the model. */
export class TaskLimitError extends Error {
  override readonly name = 'TaskLimitError';
  /** How many may run. */
  readonly maxRunning: number;
  /** Those that do; the ones on their way have no id yet. */
  readonly running: readonly string[];

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

/** Keeps the commands that outlive their calls, and for a while those that have ended. */
export class TaskManager {
  /** How many tasks may run at once. */
  readonly maxRunning: number;
  readonly #keepMs: number;
  readonly #maxEnded: number;
  readonly #onEnd: TaskManagerOptions['onEnd'];
  readonly #onEvent: TaskManagerOptions['onEvent'];
  readonly #watch: LookoutConditions;
  readonly #hasRandomIds: boolean;
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
    const options = readOptions('options', given, NAMES, { within });
    checkFunction('onEnd', options.onEnd);
    checkFunction('onEvent', options.onEvent);
    this.maxRunning = wholeFrom('maxRunning', 1, options.maxRunning ?? 15);
    this.#keepMs = wholeFrom('keepMs', 1, options.keepMs ?? 300_000);
    this.#maxEnded = wholeFrom('maxEnded', 1, options.maxEnded ?? Number.MAX_SAFE_INTEGER);
    this.#onEnd = options.onEnd ?? undefined;
    this.#onEvent = options.onEvent ?? undefined;
    this.#watch = checkWatch(options.watch ?? { ports: true });
    this.#hasRandomIds = checkIds(options.ids ?? 'counted') === 'random';
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
    const task = new Task(this.#newId(), work, startedAt);
    this.#tasks.set(task.id, task);
    task.ended.then((end) => this.#ended(task, end));
    const listener = this.#onEvent;
    if (listener !== undefined) {
      const { subject } = work;
      const told = { subject, status: () => task.status(), listener, conditions: this.#watch };
      new TaskEvents(told).start();
    }
    return task;
  }

  #newId(): string {
    if (!this.#hasRandomIds) {
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
    this.#forgetting.set(task.id, startTimer(this.#keepMs, forget));
  }

  #ended(task: Task, end: TaskEnd): void {
    if (this.#disposed) this.#tasks.delete(task.id);
    else {
      this.#forgetLater(task);
      const over = this.#forgetting.size - this.#maxEnded;
      for (const id of [...this.#forgetting.keys()].slice(0, Math.max(0, over))) this.forget(id);
    }
    const onEnd = this.#onEnd;
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

function checkWatch(given: LookoutConditions): LookoutConditions {
  const watch = readOptions('watch', given, WATCH_NAMES, { within: 'watch.' });
  const { lines, ports, silentMs } = watch;
  checkSwitch('watch.ports', ports);
  if (!isMissing(silentMs)) atLeast('watch.silentMs', 1, silentMs);
  if (isMissing(lines)) return watch;
  if (!Array.isArray(lines)) checkObject('watch.lines', lines);
  for (const line of lines) {
    if (line instanceof RegExp || (typeof line === 'string' && line !== '')) continue;
    const wanted = 'a text that is not empty or a RegExp';
    throw new InputError(`watch.lines: expected each to be ${wanted}, got ${showValue(line)}`);
  }
  return watch;
}

function checkIds(ids: string): string {
  if (ids === 'counted' || ids === 'random') return ids;
  throw new InputError(`ids: expected 'counted' or 'random', got ${showValue(ids)}`);
}
