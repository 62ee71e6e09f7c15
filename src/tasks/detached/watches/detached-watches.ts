import { inBatches } from '../../../support/batches.js';
import { messageOf } from '../../../support/errors.js';
import { warnHost } from '../../../support/logger.js';
import { startTimer } from '../../../support/timing.js';
import { TaskEvents, type TaskListener } from '../../events.js';
import { taskLabel } from '../../label.js';
import type { WatchOrder } from '../../notify/ledger.js';
import { type DetachedNotify, type Notify, watchesOf } from '../../notify/notify.js';
import { Watches } from '../../notify/watches.js';
import { type TaskStatus, taskResult } from '../../status.js';
import { DetachedSubject } from '../detached-subject.js';
import { lookAtOrder } from '../place/order.js';
import { findPlaces, type TaskPlace } from '../place/place.js';
import { DiskLedger, readNotify, searchFrom, toldWatches } from './record.js';
import { addRuntime } from './runtimes.js';

/** A command without a known state may be starting for so long. */
const STARTING_MS = 10_000;
const LOOK_AGAIN_MS = 1000;

/** The detached commands whose watches are told by one manager, also after a restart of its host. */
export class DetachedWatches {
  readonly #name: string;
  readonly #listeners: Set<TaskListener>;
  readonly #isKept: (id: string) => boolean;
  readonly #events = new Map<string, TaskEvents>();
  #stopListening: (() => void) | undefined;
  #stopTimer: (() => void) | undefined;
  #isStopped = false;

  /**
   * @param name Watches are for this manager when their `to` is the same.
   * @param isKept Returns whether the manager itself follows a task with this id.
   */
  constructor(name: string, listeners: Set<TaskListener>, isKept: (id: string) => boolean) {
    this.#name = name;
    this.#listeners = listeners;
    this.#isKept = isKept;
  }

  /** Begins with what is there, in the background, and takes what this process detaches later. */
  start(): void {
    if (this.#isStopped) return;
    for (const events of this.#events.values()) events.nudge();
    if (this.#stopListening !== undefined) return;
    this.#stopListening = addRuntime(this.#name, (subject, notify) => {
      this.#follow(subject, { notify, ledger: ledgerOf(subject) });
    });
    this.resume().catch((error: unknown) => {
      warnHost(`detached tasks of "${this.#name}" can't be watched: ${messageOf(error)}`);
    });
  }

  /**
   * Looks for commands of any process that have something left to tell.
   *
   * @returns How many are watched now.
   * @throws The user's directory is open to others, or not the user's.
   */
  async resume(): Promise<number> {
    await inBatches(await findPlaces(), (place) =>
      this.#lookAt(place).catch((error: unknown) => {
        warnHost(`the detached task ${place.id} can't be watched: ${messageOf(error)}`);
      }),
    );
    return this.#events.size;
  }

  /** Stops; what is not told yet is left to the next host. */
  stop(): void {
    this.#isStopped = true;
    this.#stopListening?.();
    this.#stopTimer?.();
    for (const events of this.#events.values()) events.stop();
    this.#events.clear();
  }

  async #lookAt(place: TaskPlace): Promise<void> {
    const { id, directory, output } = place;
    if (this.#isFollowed(id)) return;
    const notify = await readNotify(directory);
    if (notify?.to !== this.#name) return;
    const told = await toldWatches(directory, notify);
    if (told.length === watchesOf(notify).length) return;
    const order = await lookAtOrder(directory);
    if (order === undefined) return;
    const subject = await DetachedSubject.open(place, order);
    const isStarting = subject.record.pid === 0 && Date.now() - order.askedAt < STARTING_MS;
    if (isStarting) return this.#lookAgain();
    const since = told.includes('line') ? 0 : await searchFrom(directory, output);
    this.#follow(subject, { notify, ledger: ledgerOf(subject), told, since });
  }

  #isFollowed(id: string): boolean {
    return this.#isStopped || this.#events.has(id) || this.#isKept(id);
  }

  #lookAgain(): void {
    if (this.#isStopped) return;
    this.#stopTimer?.();
    this.#stopTimer = startTimer(LOOK_AGAIN_MS, () => void this.resume().catch(() => {}));
  }

  #follow(subject: DetachedSubject, order: WatchOrder): void {
    const { id } = subject;
    if (this.#isFollowed(id)) return;
    const watches = new Watches(subject, order, false);
    const events = new TaskEvents(
      {
        ...{ subject, watches, conditions: {}, status: () => statusOf(subject) },
        onlyWatches: () => this.#events.delete(id),
      },
      this.#listeners,
    );
    this.#events.set(id, events);
    events.start();
  }
}

/**
 * Returns what is kept with a detached command of a tool, for the next host of its manager; undefined: nothing, or
 * the manager has no name by which the next host would find it.
 *
 * @param own The events asked for at its start. Default: what the manager tells of each task.
 */
export function lastingNotify(
  own: Notify | undefined,
  { name, notify }: { readonly name: string | undefined; readonly notify: Notify | undefined },
): DetachedNotify | undefined {
  const asked = own ?? notify;
  return asked === undefined || name === undefined ? undefined : { ...asked, to: name };
}

/** Returns what a manager is to tell of a detached command that it has started. */
export function detachedOrder(subject: DetachedSubject, notify: DetachedNotify): WatchOrder {
  return { notify, ledger: ledgerOf(subject) };
}

function ledgerOf(subject: DetachedSubject): DiskLedger {
  return new DiskLedger(subject.directory);
}

function statusOf({ id, state, record }: DetachedSubject): TaskStatus {
  const endedAt = 'endedAt' in state ? state.endedAt : Date.now();
  const receipt = 'receipt' in state ? state.receipt : undefined;
  return {
    id,
    type: 'bash',
    state: state.kind,
    ...(receipt && { result: taskResult(receipt.outcome) }),
    label: taskLabel(record.command),
    lifetime: 'detached',
    durationMs: Math.max(0, endedAt - record.startedAt),
  };
}
