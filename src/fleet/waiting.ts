import { BusyError } from '../remote/for-fleet.js';
import { onAbort } from '../support/abort.js';
import type { Listener } from '../support/listener.js';
import { startTimer } from '../support/timing.js';

/** The place of a call among those of its client that wait for a worker with the same labels. */
export interface WaitingPlace {
  /** A number from 1: the next one. */
  readonly place: number;
  /** The number of calls that wait. */
  readonly of: number;
}

/** How a call waits. */
export interface Patience {
  /** The longest wait, in milliseconds; 0: none. */
  readonly waitMs: number;
  /** When the call was made, by `performance.now()`: those made before it go first. */
  readonly since: number;
  readonly onWaiting: Listener<WaitingPlace>;
  readonly signal: AbortSignal | undefined;
}

/** The signal of a call was aborted while it waited: nothing was started. */
export class WaitAborted extends Error {}

interface Ticket<T> extends Patience {
  readonly search: (isCrowded: boolean) => Promise<T>;
  readonly resolve: (found: T) => void;
  readonly reject: (error: unknown) => void;
  /** Whether it was refused once: its place is told from then on. */
  wasRefused: boolean;
  readonly stops: (() => void)[];
}

/** Searches at once, as long as none is refused. */
const SEARCHES = 16;
/**
 * The time until a refused client looks again, in milliseconds, at the mean. It is the same for all and
 * drawn by lot, so that clients with many calls get no more than those with few.
 */
const AGAIN_MS = 100;
/** The time between two messages about the place, in milliseconds. */
const TELL_MS = 250;

/** The calls of a client that wait for workers with the same labels: first come, first served. */
export class CallQueue<T> {
  readonly #most: number;
  readonly #waiting: Ticket<T>[] = [];
  #searching = 0;
  /** Whether the last search was refused. */
  #isFull = false;
  /** Whether calls search one after the other, so that none overtakes another: until none waits. */
  #isOrderly = false;
  #stopPause: (() => void) | undefined;
  #stopTelling: (() => void) | undefined;

  /** @param most Calls that wait at most. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether nothing waits, and nothing is searched. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#searching === 0;
  }

  /**
   * Searches when it is this call's turn, until something is found.
   *
   * @param search Throws a `BusyError` when there is no room. `isCrowded`: other calls wait, or did.
   * @throws {BusyError} The time is up, or too many wait.
   * @throws {WaitAborted} The signal was aborted.
   * @throws Other errors of `search`.
   */
  find(search: (isCrowded: boolean) => Promise<T>, patience: Patience): Promise<T> {
    if (this.#waiting.length >= this.#most) {
      throw new BusyError(`${this.#most} calls wait for a worker already; nothing was started.`);
    }
    return new Promise((resolve, reject) => {
      const own = { wasRefused: false, stops: [] };
      const ticket: Ticket<T> = { ...patience, ...own, search, resolve, reject };
      if (this.#isFull && patience.waitMs === 0) {
        reject(busy(ticket));
        return;
      }
      this.#line(ticket);
      if (patience.signal) {
        ticket.stops.push(onAbort(patience.signal, () => this.#giveUp(ticket, new WaitAborted())));
      }
      if (patience.waitMs > 0) {
        const late = (): void => this.#giveUp(ticket, busy(ticket));
        const left = patience.since + patience.waitMs - performance.now();
        ticket.stops.push(startTimer(Math.max(0, left), late, 'keepsAlive'));
      }
      if (this.#isFull) this.#refuse(ticket);
      this.#pump();
    });
  }

  /** Refuses all that wait. */
  close(error: Error): void {
    this.#stopPause?.();
    this.#stopTelling?.();
    for (const ticket of this.#waiting.splice(0)) this.#settle(ticket, () => ticket.reject(error));
  }

  #pump(): void {
    if (this.isEmpty) this.#isOrderly = false;
    const most = this.#isOrderly ? 1 : SEARCHES;
    while (this.#stopPause === undefined && this.#searching < most) {
      const ticket = this.#waiting.shift();
      if (ticket === undefined) return;
      this.#searching += 1;
      void this.#search(ticket);
    }
  }

  async #search(ticket: Ticket<T>): Promise<void> {
    try {
      const found = await ticket.search(this.#isOrderly);
      this.#isFull = false;
      this.#settle(ticket, () => ticket.resolve(found));
    } catch (error) {
      if (error instanceof BusyError) this.#busy(ticket);
      else this.#settle(ticket, () => ticket.reject(error));
    } finally {
      this.#searching -= 1;
      this.#pump();
    }
  }

  #busy(ticket: Ticket<T>): void {
    this.#isFull = this.#isOrderly = true;
    this.#pause();
    if (ticket.signal?.aborted) this.#settle(ticket, () => ticket.reject(new WaitAborted()));
    else if (performance.now() - ticket.since >= ticket.waitMs) {
      this.#settle(ticket, () => ticket.reject(busy(ticket)));
    } else {
      this.#line(ticket);
    }
    const impatient = this.#waiting.filter(({ waitMs }) => waitMs === 0);
    for (const one of impatient) this.#giveUp(one, busy(one));
    for (const one of this.#waiting) this.#refuse(one);
  }

  /** Puts a call behind those that were made before it. */
  #line(ticket: Ticket<T>): void {
    const at = this.#waiting.findLastIndex(({ since }) => since <= ticket.since);
    this.#waiting.splice(at + 1, 0, ticket);
  }

  #refuse(ticket: Ticket<T>): void {
    ticket.wasRefused = true;
    if (!ticket.onWaiting.isPresent) return;
    this.#stopTelling ??= startTimer(0, () => this.#tell());
  }

  /** Tells those that wait of their places, and again as long as any does. */
  #tell(): void {
    this.#stopTelling = undefined;
    const of = this.#waiting.length;
    let isHeard = false;
    for (const [index, { wasRefused, onWaiting }] of this.#waiting.entries()) {
      if (!wasRefused || !onWaiting.isPresent) continue;
      isHeard = true;
      onWaiting.tell({ place: index + 1, of });
    }
    if (isHeard) this.#stopTelling = startTimer(TELL_MS, () => this.#tell());
  }

  #pause(): void {
    const ms = AGAIN_MS * (0.5 + Math.random());
    this.#stopPause ??= startTimer(
      ms,
      () => {
        this.#stopPause = undefined;
        this.#pump();
      },
      'keepsAlive',
    );
  }

  /** Takes a call out of the line; one whose search is under way is left to it. */
  #giveUp(ticket: Ticket<T>, error: Error): void {
    const at = this.#waiting.indexOf(ticket);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    this.#settle(ticket, () => ticket.reject(error));
  }

  #settle({ stops }: Ticket<T>, settle: () => void): void {
    for (const stop of stops) stop();
    settle();
  }
}

function busy({ waitMs, since }: { readonly waitMs: number; readonly since: number }): BusyError {
  const waited = waitMs === 0 ? '' : `, for ${Math.round(performance.now() - since)} ms`;
  return new BusyError(`All workers are busy${waited}; nothing was started.`);
}
