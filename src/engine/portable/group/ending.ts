import { startTimer } from '../../../support/timing.js';
import type { ProcessGroup } from './group.js';
import { Strays } from './strays.js';

/** The first interval between looks, which grows from there, in milliseconds. */
const FIRST_LOOK_MS = 5;
const SELDOM_MS = 100;
const MOST_SELDOM_MS = 1000;
/** The time after SIGKILL after which a process counts as one that cannot be ended, in milliseconds. */
const GIVE_UP_MS = 10_000;

/** How the end of a process group came about. */
export interface GroupEnd {
  /** Whether SIGKILL was needed. */
  readonly forced: boolean;
  /** Whether a process is left that even SIGKILL did not end. */
  readonly gaveUp: boolean;
}

/**
 * Ends a process group, and processes that have left it and can be found: SIGTERM, grace period, SIGKILL,
 * until none is left.
 */
export class GroupEnding {
  readonly #group: ProcessGroup;
  readonly #strays: Strays;
  readonly #over: (end: GroupEnd) => void;
  #stopGrace = (): void => {};
  #stopLook = (): void => {};
  #lookMs = FIRST_LOOK_MS;
  /** By `performance.now()`; undefined: SIGKILL has not been sent. */
  #forcedAt: number | undefined;
  /** When `ps` was last run, and how long until it runs again. */
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

  /** Sets the rest of the grace period, from now on. */
  hurry(graceMs: number): void {
    this.#stopGrace();
    if (this.#isOver || this.#forcedAt !== undefined) return;
    if (graceMs > 0) this.#stopGrace = startTimer(graceMs, () => this.#force());
    else this.#force();
  }

  /** Checks whether all processes are gone. */
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

  /**
   * Looks first for processes that have left the group: once their parents have ended, they cannot be
   * found.
   */
  async #begin(): Promise<void> {
    await this.#strays.look();
    if (this.#forcedAt === undefined) {
      this.#group.signal('SIGTERM');
      // A stopped process would not handle SIGTERM.
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

  /**
   * Looks at the remaining processes by `ps`: they may have left the group, started others, or be
   * unreaped zombies.
   */
  async #lookClosely(): Promise<void> {
    this.#isLooking = true;
    await this.#strays.look();
    this.#looked();
  }

  /** Acts upon a look that has just been made. */
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
