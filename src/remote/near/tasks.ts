import {
  type Awaited as AwaitedNews,
  checkUntil,
  type InputWait,
  Task,
  type TaskEvent,
  type TaskListener,
  TaskManager,
  type TaskWork,
  type Until,
  type WaitOptions,
} from '../../faces/tasks.js';
import { type OptionNames, readOptions, wholeFrom } from '../../support/checks.js';
import { callOut, describeThrown } from '../../support/errors.js';
import { warnHost } from '../../support/logger.js';
import { refused } from '../../support/timing.js';
import { FarSubject } from './task-subject.js';
import type { ToolLine } from './tool-line.js';

const WAIT_NAMES: OptionNames<WaitOptions> = { since: true, signal: true };

/** The tasks of a tool on the far side. */
export class FarTasks extends TaskManager {
  readonly #session: ToolLine;
  readonly #told = new Set<TaskListener>();

  constructor(session: ToolLine, maxRunning: number) {
    super({ maxRunning });
    this.#session = session;
    session.onTask = (told) => {
      const subject = new FarSubject(session, told);
      const { id, label, lifetime, durationMs } = told;
      const work: TaskWork = {
        id,
        label,
        lifetime,
        subject,
        ended: subject.ended,
        tail: () => subject.tail,
        cancel: () => void subject.end().catch(() => {}),
      };
      this.follow(work, performance.now() - durationMs);
    };
    session.onEvent = (event) => this.#tell(event);
    session.onLost = (reason) => {
      const running = this.list().filter(({ end }) => end === undefined);
      // The far side sends no more events, and the tasks learn of the loss in the next turn.
      queueMicrotask(() => {
        for (const task of running) {
          this.#tell({ task: task.status(), news: [{ kind: 'lost', reason }] });
        }
      });
    };
  }

  /** Subscribes to events, which the far side makes. */
  override subscribe(listener: TaskListener): () => void {
    if (this.#told.size === 0) this.#session.subscribe();
    this.#told.add(listener);
    return () => this.#told.delete(listener);
  }

  /**
   * Refuses: the tool on the far side begins its tasks.
   *
   * @throws Error Always.
   */
  override start(): Promise<Task> {
    return refused(new Error('Only the tool itself starts tasks on the far side.'));
  }

  #tell(event: TaskEvent): void {
    for (const listener of this.#told) {
      callOut(
        () => listener(event),
        (error) => {
          if (!this.#told.delete(listener)) return;
          warnHost(`a listener threw, it is not called again: ${describeThrown(error)}`);
        },
      );
    }
  }

  protected override make(id: string, work: TaskWork, startedAt: number): Task {
    return new FarTask(id, work, startedAt);
  }
}

/** A task of the far side: waits are done there, where its ports and processes are. */
class FarTask extends Task {
  override async waitsFor(): Promise<InputWait | undefined> {
    const { followed } = this;
    if (!(followed instanceof FarSubject) || followed.state.kind !== 'running') return undefined;
    const awaited = await followed.wait({ silentMs: 0, atMostMs: 0 }, 0, undefined);
    return awaited.kind === 'silent' ? awaited.waitsFor : undefined;
  }

  override async wait(given: Until = {}, options: WaitOptions = {}): Promise<AwaitedNews> {
    const { since = 0, signal } = readOptions('options', options, WAIT_NAMES);
    wholeFrom('since', 0, since);
    const until = checkUntil(given);
    signal?.throwIfAborted();
    const { followed } = this;
    if (!(followed instanceof FarSubject)) return super.wait(given, options);
    const awaited = await followed.wait(until, since, signal);
    if (followed.state.kind !== 'running') await this.ended;
    return awaited;
  }
}
