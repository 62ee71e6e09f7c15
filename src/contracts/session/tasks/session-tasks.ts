import type { Outcome } from '../../../engine/outcome.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { TaskLimitError } from '../../../tasks/errors.js';
import type { TaskManager } from '../../../tasks/manager.js';
import type { Task, TaskWork } from '../../../tasks/task.js';
import { ToolError } from '../../errors.js';
import type { ShownStreams } from '../result.js';

/** What of a task's output is shown: its streams apart, or of one that is detached both in one. */
export type ShownTaskOutput =
  | { readonly kind: 'streams'; readonly streams: ShownStreams }
  | { readonly kind: 'merged'; readonly text: string; readonly isCut: boolean };

/** How the command of a task has ended. */
export interface EndedTask {
  readonly outcome: Outcome;
  readonly durationMs: number | undefined;
  readonly shown: ShownTaskOutput;
  /** Undefined: nobody can tell. */
  readonly receipt: Receipt | undefined;
  /** What else there is to say of it. */
  readonly notice?: string | undefined;
  /** Where all of its output is; undefined: it is not kept. */
  readonly file: string | undefined;
}

/** A command that has been started, and is to be a task. */
export interface StartedTask {
  readonly work: TaskWork;
  /** Settles when its command has ended; never rejects. */
  readonly ended: Promise<EndedTask>;
  /** What it has printed so far; undefined: it has ended meanwhile. */
  readonly outputSoFar: () => Promise<ShownTaskOutput | undefined>;
  /** Its process id, of one that outlives the host. */
  readonly detachedPid?: number | undefined;
}

/** A task of a session. */
export interface SessionTask extends Omit<StartedTask, 'work'> {
  readonly task: Task;
}

/** Tasks that are forgotten and whose output is still known to be kept. */
const REMEMBERED = 1000;

/** The commands of a session that run in the background, and those whose end nobody has read. */
export class SessionTasks {
  readonly #manager: TaskManager;
  readonly #known = new WeakMap<Task, SessionTask>();
  /** The files of tasks that have been read to their end, by id. */
  readonly #files = new Map<string, string>();

  constructor(manager: TaskManager) {
    this.#manager = manager;
  }

  /** The ids of those that can be asked for. */
  get ids(): readonly string[] {
    return this.list().map(({ id }) => id);
  }

  /** Those that can be asked for, in the order in which they were started. */
  list(): readonly Task[] {
    // A manager may be shared by several tools.
    return this.#manager.list().filter((task) => this.#known.has(task));
  }

  hasRoom(): boolean {
    return this.#manager.hasRoom();
  }

  /**
   * Starts a command and makes a task of it.
   *
   * @throws {ToolError} As many run as may; nothing was started.
   * @throws What `start` throws.
   */
  async begin(start: () => Promise<StartedTask>): Promise<SessionTask> {
    let started: StartedTask | undefined;
    try {
      const task = await this.#manager.begin(async () => {
        started = await start();
        return started.work;
      });
      if (started === undefined) throw new TypeError('a task was not started');
      return this.#keep(task, started);
    } catch (error) {
      throw error instanceof TaskLimitError ? limitReached(error) : error;
    }
  }

  /**
   * Makes a task of a command that runs.
   *
   * @param startedAt By the clock of `performance.now()`.
   * @throws {TaskLimitError} As many run as may.
   */
  adopt(started: StartedTask, startedAt: number): SessionTask {
    return this.#keep(this.#manager.add(started.work, startedAt), started);
  }

  /** Undefined: there is no such task, or no longer. */
  find(id: string): SessionTask | undefined {
    const task = this.#manager.get(id);
    return task && this.#known.get(task);
  }

  /** Where the output is of a task that has been read to its end. */
  fileOf(id: string): string | undefined {
    return this.#files.get(id);
  }

  /** Its end is read. False: somebody else was first. */
  take(known: SessionTask): boolean {
    const { task } = known;
    if (task.take() === undefined) return false;
    if (task.outputFile !== undefined) this.#files.set(task.id, task.outputFile);
    for (const id of [...this.#files.keys()].slice(0, -REMEMBERED)) this.#files.delete(id);
    // What still runs of it can be ended by its id.
    if (task.state !== 'left') this.forget(known);
    return true;
  }

  /** It cannot be asked for any more. */
  forget({ task }: SessionTask): void {
    this.#manager.forget(task.id);
  }

  #keep(task: Task, { work: _, ...started }: StartedTask): SessionTask {
    const known = { task, ...started };
    this.#known.set(task, known);
    return known;
  }
}

function limitReached({ maxRunning, running }: TaskLimitError): ToolError {
  const which = running.length === 0 ? '' : ` (${running.join(', ')})`;
  return new ToolError(
    'jobLimit',
    `Too many background tasks: the maximum of ${maxRunning} concurrent tasks has been ` +
      `reached${which}. The command was not run.`,
  );
}
