import { startTimer } from '../../support/timing.js';
import type { ProcessGroup } from './group.js';

/** A group is looked at again after so many milliseconds, and then more and more seldom. */
const FIRST_LOOK_MS = 5;
const SELDOM_MS = 100;
/** What survives SIGKILL for so long is given up. */
const GIVE_UP_MS = 10_000;
/** After so long, who is left may be zombies that nobody reaps: `ps` knows. */
const SUSPICIOUS_MS = 500;

/** How a group came to its end. */
export interface GroupEnd {
  /** SIGKILL was needed. */
  readonly forced: boolean;
  /** Somebody is left, whom even that did not end. */
  readonly gaveUp: boolean;
}

/** Ends a process group: SIGTERM, grace, SIGKILL, until nobody of it is left. */
export class Ending {
  readonly #group: ProcessGroup;
  readonly #over: (end: GroupEnd) => void;
  #stopGrace = (): void => {};
  #stopLook = (): void => {};
  #lookMs = FIRST_LOOK_MS;
  /** Of `performance.now()`; undefined: SIGKILL has not been sent. */
  #forcedAt: number | undefined;
  #suspectedAt = 0;
  #isOver = false;

  constructor(group: ProcessGroup, graceMs: number, over: (end: GroupEnd) => void) {
    this.#group = group;
    this.#over = over;
    if (graceMs > 0) {
      group.signal('SIGTERM');
      // Who is stopped would not hear it.
      group.signal('SIGCONT');
    }
    this.hurry(graceMs);
    this.#lookLater();
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
    if (this.#isOver) return;
    if (this.#group.isEmpty) {
      this.#end(false);
      return;
    }
    if (this.#forcedAt !== undefined) this.#pursue(performance.now() - this.#forcedAt);
    this.#lookLater();
  }

  #force(): void {
    if (this.#isOver) return;
    this.#forcedAt = performance.now();
    this.#group.signal('SIGKILL');
    this.#lookMs = FIRST_LOOK_MS;
    this.#lookLater();
  }

  /** @param forcedMs Since SIGKILL was sent first. */
  #pursue(forcedMs: number): void {
    if (forcedMs > GIVE_UP_MS) {
      this.#end(true);
      return;
    }
    this.#group.signal('SIGKILL');
    if (forcedMs - this.#suspectedAt < SUSPICIOUS_MS) return;
    this.#suspectedAt = forcedMs;
    void this.#group.members().then(() => this.look());
  }

  #lookLater(): void {
    this.#stopLook();
    if (this.#isOver) return;
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
