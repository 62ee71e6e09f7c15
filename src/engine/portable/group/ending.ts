import { startTimer } from '../../../support/timing.js';
import type { ProcessGroup } from './group.js';
import { Strays } from './strays.js';

/** It is looked again after so many milliseconds, and then more and more seldom. */
const FIRST_LOOK_MS = 5;
const SELDOM_MS = 100;
const MOST_SELDOM_MS = 1000;
/** What survives SIGKILL for so long is given up. */
const GIVE_UP_MS = 10_000;

/** How a group came to its end. */
export interface GroupEnd {
  /** SIGKILL was needed. */
  readonly forced: boolean;
  /** Somebody is left, whom even that did not end. */
  readonly gaveUp: boolean;
}

/**
 * Ends a process group, and those who have left it and can be found: SIGTERM, grace, SIGKILL, until
 * nobody is left.
 */
export class GroupEnding {
  readonly #group: ProcessGroup;
  readonly #strays: Strays;
  readonly #over: (end: GroupEnd) => void;
  #stopGrace = (): void => {};
  #stopLook = (): void => {};
  #lookMs = FIRST_LOOK_MS;
  /** Of `performance.now()`; undefined: SIGKILL has not been sent. */
  #forcedAt: number | undefined;
  /** When `ps` was last asked, and how long until it is again. */
  #lookedAt = 0;
  #closeLookMs = SELDOM_MS;
  #isLooking = true;
  #isOver = false;

  constructor(group: ProcessGroup, graceMs: number, over: (end: GroupEnd) => void) {
    this.#group = group;
    this.#strays = new Strays(group);
    this.#over = over;
    this.hurry(graceMs);
    void this.#begin();
  }

  /** So much time is left from now. */
  hurry(graceMs: number): void {
    this.#stopGrace();
    if (this.#isOver || this.#forcedAt !== undefined) return;
    if (graceMs > 0) this.#stopGrace = startTimer(graceMs, () => this.#force());
    else this.#force();
  }

  /** Looks whether it is over. */
  look(): void {
    if (this.#isOver || this.#isLooking) return;
    const isGone = this.#group.isEmpty;
    if (isGone && this.#strays.isAlone) this.#end(false);
    else if (isGone || this.#isTimeForClose()) void this.#lookClosely();
    else this.#lookLater();
  }

  #isTimeForClose(): boolean {
    return performance.now() - this.#lookedAt >= this.#closeLookMs;
  }

  /** Who has left the group is looked for first: once their parents have ended, nobody finds them. */
  async #begin(): Promise<void> {
    await this.#strays.look();
    if (this.#forcedAt === undefined) {
      this.#group.signal('SIGTERM');
      // Who is stopped would not hear it.
      this.#group.signal('SIGCONT');
    }
    this.#looked();
  }

  #force(): void {
    if (this.#isOver) return;
    this.#forcedAt = performance.now();
    this.#lookMs = FIRST_LOOK_MS;
    this.#closeLookMs = 0;
    this.look();
  }

  /** Who is left may have left the group, started others, or be a zombie that nobody reaps. */
  async #lookClosely(): Promise<void> {
    this.#isLooking = true;
    await this.#strays.look();
    this.#looked();
  }

  /** Just after a look. */
  #looked(): void {
    this.#isLooking = false;
    this.#lookedAt = performance.now();
    this.#closeLookMs = Math.min(Math.max(this.#closeLookMs * 2, SELDOM_MS), MOST_SELDOM_MS);
    const forcedAt = this.#forcedAt;
    if (forcedAt === undefined) this.#strays.ask();
    else {
      this.#group.signal('SIGKILL');
      this.#strays.kill();
    }
    if (this.#group.isEmpty && this.#strays.isEmpty) this.#end(false);
    else if (forcedAt !== undefined && this.#lookedAt - forcedAt > GIVE_UP_MS) this.#end(true);
    else this.#lookLater();
  }

  #lookLater(): void {
    this.#stopLook();
    this.#stopLook = startTimer(this.#lookMs, () => this.look());
    this.#lookMs = Math.min(this.#lookMs * 2, SELDOM_MS);
  }

  #end(gaveUp: boolean): void {
    this.#isOver = true;
    this.#stopGrace();
    this.#stopLook();
    this.#over({ forced: this.#forcedAt !== undefined, gaveUp });
  }
}
