import { startTimer } from '../support/timing.js';
import { keysOf, type Labels } from './label-keys.js';
import type { Broker, Heard } from './line/broker.js';
import { type Subjects, TIERS } from './subjects.js';

/** How many of the tiers a worker is in: none, when it is full, to all, when it has nothing to do. */
export type Openness = 0 | 1 | 2 | 3;

/** The group of which one member gets each search. */
const QUEUE = 'workers';
/**
 * The time after which a worker that has less to do is in more tiers again, in milliseconds: one command
 * after another shall not cost the broker a subscription each.
 */
const SETTLES_MS = 100;

/**
 * The subjects on which a worker hears of clients that look for one. The broker gives each search to one
 * of those that listen, so a worker listens only where it has room: no client has to ask them all.
 */
export class Openings {
  readonly #broker: Broker;
  readonly #subjects: Subjects;
  readonly #keys: readonly string[];
  readonly #heard: (asked: Heard) => void;
  readonly #stopThere: readonly (() => void)[];
  /** For each tier in which the worker is, what takes it out; the one that is left last is first. */
  readonly #tiers: (readonly (() => void)[])[] = [];
  #wanted: Openness = 0;
  #stopTimer: (() => void) | undefined;

  constructor(broker: Broker, subjects: Subjects, labels: Labels, heard: (asked: Heard) => void) {
    this.#broker = broker;
    this.#subjects = subjects;
    this.#keys = keysOf(labels);
    this.#heard = heard;
    this.#stopThere = this.#listen('there');
  }

  /** Sets in how many tiers the worker is: fewer at once, more than the first one soon. */
  become(openness: Openness): void {
    this.#wanted = openness;
    while (this.#tiers.length > openness) for (const stop of this.#tiers.pop() ?? []) stop();
    if (this.#tiers.length === 0 && openness > 0) this.#join();
    if (this.#tiers.length >= openness) return;
    this.#stopTimer ??= startTimer(SETTLES_MS, () => {
      this.#stopTimer = undefined;
      while (this.#tiers.length < this.#wanted) this.#join();
    });
  }

  /** Is in all tiers at once: the worker has just begun. */
  open(): void {
    this.#wanted = 3;
    while (this.#tiers.length < this.#wanted) this.#join();
  }

  close(): void {
    this.become(0);
    this.#stopTimer?.();
    for (const stop of this.#stopThere) stop();
  }

  #join(): void {
    const tier = TIERS.at(-1 - this.#tiers.length);
    if (tier !== undefined) this.#tiers.push(this.#listen(tier));
  }

  #listen(tier: string): readonly (() => void)[] {
    return this.#keys.map((key) =>
      this.#broker.listen(this.#subjects.place(tier, key), this.#heard, QUEUE),
    );
  }
}
