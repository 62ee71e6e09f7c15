import type { Outcome } from '../../../engine/outcome.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { TaskLimitError } from '../../../tasks/errors.js';
import type { TaskManager } from '../../../tasks/manager.js';
import type { Task, TaskWork } from '../../../tasks/task.js';
import { ToolError } from '../../errors.js';
import type { ShownStreams } from '../result.js';

/** Output of a task as it is shown: two streams, or one merged stream of a detached command. */
export type ShownTaskOutput =
  | { readonly kind: 'streams'; readonly streams: ShownStreams }
  | { readonly kind: 'merged'; readonly text: string; readonly isCut: boolean };

/** The end of a task's command. */
export interface EndedTask {
  readonly outcome: Outcome;
  readonly durationMs: number | undefined;
  readonly shown: ShownTaskOutput;
  /** Undefined: not known. */
  readonly receipt: Receipt | undefined;
  /** A further line for the model. */
  readonly notice?: string | undefined;
  /** The file with all output; undefined: it is not kept. */
  readonly file: string | undefined;
}

/** A command that was started to become a task. */
export interface StartedTask {
  readonly work: TaskWork;
  /** Settles when the command has ended; never rejects. */
  readonly ended: Promise<EndedTask>;
  /** Returns the output so far; undefined: the command has ended meanwhile. */
  readonly outputSoFar: () => Promise<ShownTaskOutput | undefined>;
  /** The process id of a command that outlives the host. */
  readonly detachedPid?: number | undefined;
}

/** A task of a session. */
export interface SessionTask extends Omit<StartedTask, 'work'> {
  readonly task: Task;
}

/** Forgotten tasks whose output files are remembered. */
const REMEMBERED = 1000;

/** The tasks of a session: those that run, and those whose end has not been returned. */
export class SessionTasks {
  readonly #manager: TaskManager;
  readonly #known = new WeakMap<Task, SessionTask>();
  /** The output files of tasks whose end was returned, by id. */
  readonly #files = new Map<string, string>();

  constructor(manager: TaskManager) {
    this.#manager = manager;
  }

  /** The ids of the known tasks. */
  get ids(): readonly string[] {
    return this.list().map(({ id }) => id);
  }

  /** Returns the known tasks, in the order in which they were started. */
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
   * @throws {ToolError} The limit of tasks is reached; nothing was started.
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
   * @param startedAt The time of the start, by `performance.now()`.
   * @throws {TaskLimitError} The limit of tasks is reached.
   */
  adopt(started: StartedTask, startedAt: number): SessionTask {
    return this.#keep(this.#manager.add(started.work, startedAt), started);
  }

  /** Finds a task by its id; undefined: there is none, or not any more. */
  find(id: string): SessionTask | undefined {
    const task = this.#manager.get(id);
    return task && this.#known.get(task);
  }

  /** Returns the output file of a task whose end was returned. */
  fileOf(id: string): string | undefined {
    return this.#files.get(id);
  }

  /** Marks the end of a task as returned. False: another call was first. */
  take(known: SessionTask): boolean {
    const { task } = known;
    if (task.take() === undefined) return false;
    if (task.outputFile !== undefined) this.#files.set(task.id, task.outputFile);
    for (const id of [...this.#files.keys()].slice(0, -REMEMBERED)) this.#files.delete(id);
    // Processes that still run can be ended by the task's id.
    if (task.state !== 'left') this.forget(known);
    return true;
  }

  /** Forgets a task. */
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
