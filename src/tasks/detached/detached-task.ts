import { checkExtent } from '../../options/terminal.js';
import { InputError } from '../../support/errors.js';
import { FollowedTask } from '../followed-task.js';
import { taskLabel } from '../label.js';
import { type TaskEnd, type TaskStatus, taskResult } from '../status.js';
import type { DetachedSubject } from './detached-subject.js';
import type { DetachedRecord } from './registry.js';
import { endOfDetached } from './task-end.js';
import type { DetachedTerminal } from './terminal/detached-terminal.js';
import { type ShowEnd, type ShowOptions, showTerminal } from './terminal/show.js';

/** A command that goes on without the process that started it; any process of the same user may attach. */
export class DetachedTask extends FollowedTask {
  /** The detached command itself: its output as bytes, and all changes. */
  readonly subject: DetachedSubject;
  /** Always 'detached': the task outlives its host. */
  readonly lifetime = 'detached' as const;
  #ended: Promise<TaskEnd> | undefined;

  constructor(subject: DetachedSubject) {
    super(subject.id, subject);
    this.subject = subject;
  }

  /** The options it was started with, and its state. */
  get record(): DetachedRecord {
    return this.subject.record;
  }

  /** The command, shortened to one line. */
  get label(): string {
    return taskLabel(this.record.command);
  }

  /**
   * Resolves when its command has ended, or its end cannot be known ('failed'), with the end of its output. Never
   * rejects, and does not keep the host alive.
   */
  get ended(): Promise<TaskEnd> {
    this.#ended ??= endOfDetached(this.subject);
    return this.#ended;
  }

  /** Returns the task's current status. */
  status(): TaskStatus {
    const { state, startedAt } = this.record;
    const { receipt } = this;
    const until = 'endedAt' in state ? state.endedAt : Date.now();
    return {
      id: this.id,
      type: 'bash',
      state: state.kind,
      ...(receipt && { result: taskResult(receipt.outcome) }),
      ...(state.kind === 'lost' && { result: 'failed' as const }),
      label: this.label,
      lifetime: this.lifetime,
      durationMs: receipt?.durationMs ?? Math.max(0, until - startedAt),
    };
  }

  /**
   * Returns the screen of its terminal as text, without the blank lines at its end. It is made from the
   * last 256 KiB of the output: what was drawn earlier and never again is not on it.
   *
   * @throws {InputError} The task was not started with `pty`.
   */
  override async screen(): Promise<string> {
    return this.#terminal('screen').text();
  }

  /**
   * Sets the size of the window in which this process shows the terminal. It counts until this process
   * ends; the terminal gets the fewest columns and the fewest rows of all windows. No effect on a task that
   * has ended.
   *
   * @throws {InputError} The size is out of range, or the task was not started with `pty`.
   */
  override async resize(columns: number, rows: number): Promise<void> {
    const size = { columns: checkExtent('columns', columns), rows: checkExtent('rows', rows) };
    await this.#terminal('resize').resize(size);
  }

  /**
   * Shows its terminal on the user's, raw, until its command has ended or the user leaves it: the screen
   * as it is now, and then all that is printed; keys go to the command. Several processes may do so at
   * once. The user's terminal is given back as it was, in any case.
   *
   * @throws {InputError} An option is not valid, or the task was not started with `pty`.
   * @throws Error Its keeper takes no further connection: too many are attached.
   */
  async showOn(options: ShowOptions): Promise<ShowEnd> {
    return showTerminal(this.subject, this.#terminal('showOn'), options);
  }

  #terminal(asked: string): DetachedTerminal {
    const { liveTerminal } = this.subject;
    if (liveTerminal === undefined) {
      throw new InputError(`${asked}: expected a task with a terminal`);
    }
    return liveTerminal;
  }
}
