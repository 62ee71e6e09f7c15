import { callOut, describeThrown } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { startTimer } from '../support/timing.js';
import { Lookout, type LookoutConditions } from './lookout/lookout.js';
import type { ToldNews } from './notify/told-news.js';
import type { Watches } from './notify/watches.js';
import { readOutput, type TaskOutput } from './output.js';
import type { TaskStatus } from './status.js';
import type { TaskSubject } from './subject.js';

/**
 * An event about a task, sent to a runtime at most once every 200 ms: all that has happened since the
 * last one.
 */
export interface TaskEvent {
  /** The task's status. */
  readonly task: TaskStatus;
  /** The output since the last event; absent when there is none. */
  readonly output?: TaskOutput & {
    /** Whether there was more output: only its end is here. */
    readonly flood: boolean;
  };
  /** Further news, oldest first. */
  readonly news: readonly ToldNews[];
}

/** A listener to events of tasks. */
export type TaskListener = (event: TaskEvent) => void;

const INTERVAL_MS = 200;
/** The most bytes of output in an event. */
const SHOWN_BYTES = 4096;

/** The task that events are about. */
interface WatchedTask {
  readonly subject: TaskSubject;
  readonly status: () => TaskStatus;
  readonly conditions: LookoutConditions;
  /** What was asked for at its start, each to be told once. */
  readonly watches?: Watches | undefined;
  /** Nothing else is told. Called when there is nothing left to tell. */
  readonly onlyWatches?: () => void;
}

/** Sends the events of one task to a runtime, until no process of it is left. */
export class TaskEvents {
  readonly #told: WatchedTask;
  readonly #listeners: Set<TaskListener>;
  readonly #lookout: Lookout;
  #stopWatching = (): void => {};
  #position = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #stopTimer: (() => void) | undefined;
  #isLooking = false;
  /** Whether something has happened during the current look. */
  #isDue = false;
  #over = false;
  /** Whether no process of it is left, or that is not known. */
  #isGone = false;

  /** @param listeners May grow later; a listener that throws is removed. */
  constructor(told: WatchedTask, listeners: Set<TaskListener>) {
    this.#told = told;
    this.#listeners = listeners;
    this.#lookout = new Lookout(told.subject, told.conditions, 0);
  }

  start(): void {
    const { subject, watches } = this.#told;
    this.#stopWatching = subject.watch(() => this.#due(0));
    if (watches !== undefined) watches.onChange = () => this.#due(0);
    this.#due(0);
  }

  /** Looks now: a listener has come, for example. */
  nudge(): void {
    this.#due(0);
  }

  /** Stops the events. */
  stop(): void {
    this.#over = true;
    this.#stopWatching();
    this.#stopTimer?.();
  }

  /** Plans a look in `ms` milliseconds, or when the interval has passed. */
  #due(ms: number): void {
    if (this.#over) return;
    if (this.#isLooking) {
      this.#isDue ||= ms === 0;
      return;
    }
    const wait = Math.max(ms, this.#lastAt + INTERVAL_MS - performance.now(), 0);
    this.#stopTimer?.();
    this.#stopTimer = startTimer(wait, () => this.#look().catch(this.#failed));
  }

  /** A failed look must not end the host; a wait for the task reports the error to its caller. */
  readonly #failed = (error: unknown): void => {
    warnHost(`a task can't be watched any more: ${describeThrown(error)}`);
    this.stop();
  };

  async #look(): Promise<void> {
    const { watches, onlyWatches } = this.#told;
    this.#isLooking = true;
    // Before the other look, so that a line which both find is told as one event.
    await watches?.look();
    const found = await this.#lookout.look();
    const output = onlyWatches === undefined ? await this.#output() : undefined;
    await watches?.note(found);
    if (this.#over) return;
    const news = await this.#marked(found);
    this.#isLooking = false;
    this.#lastAt = performance.now();
    if (output !== undefined || news.length > 0) this.#tell(news, output);
    this.#isGone ||= found.some(({ kind }) => kind === 'gone' || kind === 'lost');
    const isOver = onlyWatches ? watches?.isOver : this.#isGone && !watches?.isHeld;
    if (isOver) {
      onlyWatches?.();
      return this.stop();
    }
    if (this.#over) return;
    const isDue = this.#isDue;
    this.#isDue = false;
    const nextMs = isDue ? 0 : this.#nextLookMs();
    if (nextMs !== undefined) this.#due(nextMs);
  }

  async #marked(found: readonly ToldNews[]): Promise<readonly ToldNews[]> {
    const { watches, onlyWatches } = this.#told;
    // Without a listener, it stays to be told.
    const news = this.#listeners.size === 0 ? found : ((await watches?.mark(found)) ?? found);
    if (onlyWatches === undefined) return news;
    return news.filter(({ watch, unmet }) => watch !== undefined || unmet !== undefined);
  }

  #nextLookMs(): number | undefined {
    const dues = [this.#lookout.nextLookMs(), this.#told.watches?.nextLookMs()];
    const known = dues.filter((ms) => ms !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  async #output(): Promise<TaskEvent['output']> {
    const { subject } = this.#told;
    const all = await readOutput(subject, this.#position, SHOWN_BYTES);
    if (all.cursor === this.#position) return undefined;
    const flood = all.cursor < all.total;
    const from = flood ? Math.max(this.#position, all.total - SHOWN_BYTES) : this.#position;
    const told = flood ? await readOutput(subject, from, SHOWN_BYTES) : all;
    const missedBytes = from - this.#position + told.missedBytes;
    this.#position = told.cursor;
    return { ...told, missedBytes, flood };
  }

  #tell(news: readonly ToldNews[], output: TaskEvent['output']): void {
    const event = { task: this.#told.status(), ...(output && { output }), news };
    for (const listener of this.#listeners) {
      callOut(
        () => listener(event),
        (error) => {
          if (!this.#listeners.delete(listener)) return;
          warnHost(`onEvent threw, it is not called again: ${describeThrown(error)}`);
        },
      );
    }
  }
}
