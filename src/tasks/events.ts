import { callOut, describeThrown } from '../support/errors.js';
import { warnHost } from '../support/logger.js';
import { startTimer } from '../support/timing.js';
import { Lookout, type LookoutConditions, type TaskNews } from './lookout/lookout.js';
import { readOutput, type TaskOutput } from './output.js';
import type { TaskStatus } from './status.js';
import type { TaskSubject } from './subject.js';

/** What a runtime is told of a task, at most once every 200 ms: all that has happened since. */
export interface TaskEvent {
  /** How it stands. */
  readonly task: TaskStatus;
  /** What it has printed since the last event; absent: nothing. */
  readonly output?: TaskOutput & {
    /** More than is told: only its end is here. */
    readonly flood: boolean;
  };
  /** What else has happened, oldest first. */
  readonly news: readonly TaskNews[];
}

/** Whoever is told of tasks. */
export type TaskListener = (event: TaskEvent) => void;

const INTERVAL_MS = 200;
/** Of a flood so much is told, in bytes. */
const SHOWN_BYTES = 4096;

/** Who is told, and of whom. */
interface Told {
  readonly subject: TaskSubject;
  readonly status: () => TaskStatus;
  readonly conditions: LookoutConditions;
}

/** Tells a runtime what happens to one task, until nobody of it is left. */
export class TaskEvents {
  readonly #told: Told;
  readonly #listeners: Set<TaskListener>;
  readonly #lookout: Lookout;
  #stopWatching = (): void => {};
  #position = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #stopTimer: (() => void) | undefined;
  #isLooking = false;
  /** Something has happened while it looked. */
  #isDue = false;
  #over = false;

  /** @param listeners Those who are told; there may come others, and who throws is taken out. */
  constructor(told: Told, listeners: Set<TaskListener>) {
    this.#told = told;
    this.#listeners = listeners;
    this.#lookout = new Lookout(told.subject, told.conditions, 0);
  }

  start(): void {
    this.#stopWatching = this.#told.subject.watch(() => this.#due(0));
    this.#due(0);
  }

  /** Nothing is told after this. */
  stop(): void {
    this.#over = true;
    this.#stopWatching();
    this.#stopTimer?.();
  }

  /** There may be something to tell in so many milliseconds, or when the interval has passed. */
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

  /** What can't be looked at must not end the host; whoever waits for it is told so. */
  readonly #failed = (error: unknown): void => {
    warnHost(`a task can't be looked at any more: ${describeThrown(error)}`);
    this.stop();
  };

  async #look(): Promise<void> {
    this.#isLooking = true;
    const news = await this.#lookout.look();
    const output = await this.#output();
    this.#isLooking = false;
    this.#lastAt = performance.now();
    if (this.#over) return;
    if (output !== undefined || news.length > 0) this.#tell(news, output);
    if (news.some(({ kind }) => kind === 'gone' || kind === 'lost')) return this.stop();
    const isDue = this.#isDue;
    this.#isDue = false;
    const nextMs = isDue ? 0 : this.#lookout.nextLookMs();
    if (nextMs !== undefined) this.#due(nextMs);
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

  #tell(news: readonly TaskNews[], output: TaskEvent['output']): void {
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
