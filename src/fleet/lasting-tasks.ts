import { type Task, type TaskListener, TaskManager, type TaskOptions } from '../faces/tasks.js';
import { checkFunction } from '../support/checks.js';

/** The tasks of a tool that moves from one worker to another: those on its present worker. */
export class LastingTasks extends TaskManager {
  #current: TaskManager;
  /** Listeners, and the function that ends the present subscription of each. */
  readonly #told = new Map<TaskListener, () => void>();

  constructor(first: TaskManager) {
    super({ maxRunning: first.maxRunning });
    this.#current = first;
  }

  /** Replaces the present tasks by those of the next worker. */
  becomes(next: TaskManager): void {
    this.#current = next;
    for (const [listener, stop] of this.#told) {
      stop();
      this.#told.set(listener, next.subscribe(listener));
    }
  }

  override subscribe(listener: TaskListener): () => void {
    checkFunction('listener', listener ?? 'nothing');
    this.#told.get(listener)?.();
    this.#told.set(listener, this.#current.subscribe(listener));
    return () => {
      this.#told.get(listener)?.();
      this.#told.delete(listener);
    };
  }

  override list(): readonly Task[] {
    return this.#current.list();
  }

  override get(id: string): Task | undefined {
    return this.#current.get(id);
  }

  override find(id: string): Task {
    return this.#current.find(id);
  }

  override forget(id: string): boolean {
    return this.#current.forget(id);
  }

  override start(command: string, options?: TaskOptions): Promise<Task> {
    return this.#current.start(command, options);
  }
}
