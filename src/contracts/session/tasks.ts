import type { StartedCommand } from '../../command/promise.js';
import type { RunResult } from '../../engine/outcome.js';
import { randomBytes } from '../../support/random.js';
import { ToolError } from '../errors.js';
import type { SessionSettings } from './options.js';

/** A command on its way into the background. */
interface StartedTask {
  readonly command: StartedCommand;
  /** Its environment block. */
  readonly environment: string;
}

/** A command in the background. */
export interface Task extends StartedTask {
  readonly id: string;
  /** How it ended; undefined while it runs. */
  readonly end: RunResult | undefined;
}

/** The commands of a session that run in the background, and those whose end nobody has read. */
export class Tasks {
  readonly #limits: Pick<SessionSettings, 'maxRunningTasks' | 'maxEndedTasks'>;
  /** All tasks that can be asked for, in the order in which they were started. */
  readonly #tasks = new Map<string, StartedTask & { id: string; end: RunResult | undefined }>();
  /** Commands on their way to be started. */
  #starting = 0;

  constructor(limits: Pick<SessionSettings, 'maxRunningTasks' | 'maxEndedTasks'>) {
    this.#limits = limits;
  }

  /** The ids of those that can be asked for. */
  get ids(): readonly string[] {
    return [...this.#tasks.keys()];
  }

  /**
   * Starts a command and makes a task of it.
   *
   * @throws {ToolError} As many run as may; nothing was started.
   * @throws What `start` throws.
   */
  async add(start: () => Promise<StartedTask>): Promise<Task> {
    this.#checkRoom();
    this.#starting += 1;
    try {
      const started = await start();
      const task = { ...started, id: this.#newId(), end: undefined };
      this.#tasks.set(task.id, task);
      started.command.result.then((end) => this.#ended(task.id, end));
      return { ...task };
    } finally {
      this.#starting -= 1;
    }
  }

  /** Undefined: there is no such task, or no longer. */
  find(id: string): Task | undefined {
    const task = this.#tasks.get(id);
    return task && { ...task };
  }

  /** Its end has been read. False: somebody else was first. */
  forget(id: string): boolean {
    return this.#tasks.delete(id);
  }

  /** Settles when none runs any more. */
  async settled(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map(({ command }) => command.result));
  }

  #checkRoom(): void {
    const running = [...this.#tasks.values()].filter(({ end }) => end === undefined);
    const { maxRunningTasks } = this.#limits;
    if (running.length + this.#starting < maxRunningTasks) return;
    // Those on their way have no id yet.
    const which = running.length === 0 ? '' : ` (${running.map(({ id }) => id).join(', ')})`;
    throw new ToolError(
      'jobLimit',
      `Too many background tasks: the maximum of ${maxRunningTasks} concurrent tasks has been ` +
        `reached${which}. The command was not run.`,
    );
  }

  #ended(id: string, end: RunResult): void {
    const task = this.#tasks.get(id);
    if (task !== undefined) task.end = end;
    const ended = [...this.#tasks.values()].filter((each) => each.end !== undefined);
    for (const { id: oldest } of ended.slice(0, -this.#limits.maxEndedTasks)) this.forget(oldest);
  }

  /** Not to be guessed, so that nobody reads a task that was never told to him. */
  #newId(): string {
    let id: string;
    do id = `task_${randomBytes(4).toString('hex')}`;
    while (this.#tasks.has(id));
    return id;
  }
}
