import { startTimer } from '../../../support/timing.js';
import type { ProcessGroup } from './group.js';
import type { ListedProcess } from './processes.js';
import { ancestorsOf, pipelineReaders } from './readers.js';
import { keyOf, Strays, signalOne } from './strays.js';

/** The first interval between looks, which grows from there, in milliseconds. */
const FIRST_LOOK_MS = 5;
const SELDOM_MS = 100;
const MOST_SELDOM_MS = 1000;
/** The time after SIGKILL after which a process counts as one that cannot be ended, in milliseconds. */
const GIVE_UP_MS = 10_000;

/**
 * The most time before SIGKILL in which readers of a pipeline may print, if what writes to them goes on: `ps`,
 * which comes first, may take a part of it.
 */
const MOST_LEAD_MS = 1000;

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
  #stopSteps = (): void => {};
  /** Readers of pipelines, which get no SIGTERM at first. */
  #readers: ReadonlySet<string> = new Set();
  /** Whether a process was sent SIGKILL within the grace. */
  #killedOne = false;
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
    this.#stopSteps();
    if (this.#isOver || this.#forcedAt !== undefined) return;
    if (graceMs > 0) {
      this.#stopGrace = startTimer(graceMs, () => this.#force());
      this.#scheduleSteps(graceMs);
    } else this.#force();
  }

  /** Readers get SIGTERM after half of the grace, and what writes to them SIGKILL just before its end. */
  #scheduleSteps(graceMs: number): void {
    const lead = Math.min(graceMs / 4, MOST_LEAD_MS);
    const offAsk = startTimer(graceMs / 2, () => void this.#endReaders('SIGTERM'));
    const offKill = startTimer(graceMs - lead, () => void this.#endReaders('SIGKILL'));
    this.#stopSteps = () => {
      offAsk();
      offKill();
    };
  }

  async #endReaders(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#readers.size === 0) return;
    await this.#strays.look();
    if (this.#isOver || this.#forcedAt !== undefined) return;
    const isReader = (one: ListedProcess): boolean => this.#readers.has(keyOf(one));
    const { family } = this.#strays;
    const others = family.filter((one) => !isReader(one));
    const readers = family.filter(isReader);
    if (readers.length === 0) return;
    // While others run, a reader may still wait for its end of file.
    if (signal === 'SIGTERM') this.#strays.askThese(others.length === 0 ? readers : []);
    else if (others.length === 0) this.#strays.askThese(readers);
    else {
      this.#killedOne = true;
      for (const { pid } of others) signalOne(pid, 'SIGKILL');
    }
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
    const readers = await pipelineReaders(this.#strays.family);
    if (this.#forcedAt === undefined) this.#ask(readers);
    this.#looked();
  }

  #ask(readers: ReadonlySet<ListedProcess>): void {
    this.#readers = new Set([...readers].map(keyOf));
    if (readers.size === 0) {
      this.#group.signal('SIGTERM');
      // A stopped process would not handle SIGTERM.
      this.#group.signal('SIGCONT');
      return;
    }
    const others = this.#strays.family.filter((one) => !readers.has(one));
    // Parents first: a shell must not go on when a program of it has ended. Those of readers come before all,
    // since a reader ends with what writes to it.
    const waiting = ancestorsOf(readers, others);
    this.#strays.askThese(others.filter(({ pid }) => waiting.has(pid)));
    this.#strays.askThese(others);
    for (const { pid } of readers) signalOne(pid, 'SIGCONT');
  }

  #force(): void {
    if (this.#isOver) return;
    this.#stopSteps();
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
    if (forcedAt === undefined) this.#askNewcomers();
    else {
      this.#group.signal('SIGKILL');
      this.#strays.kill();
    }
    if (this.#group.isEmpty && this.#strays.isEmpty) this.#end(false);
    else if (forcedAt !== undefined && this.#lookedAt - forcedAt > GIVE_UP_MS) this.#end(true);
    else this.#lookLater();
  }

  /**
   * Asks processes that have left the group; and, where a reader was spared, those in it that were forked
   * while others were asked: their parents are gone. Others are part of a cleanup.
   */
  #askNewcomers(): void {
    this.#strays.ask();
    if (this.#readers.size === 0) return;
    const { family } = this.#strays;
    const pids = new Set(family.map(({ pid }) => pid));
    const isLost = (one: ListedProcess): boolean =>
      !pids.has(one.parent) && !this.#readers.has(keyOf(one));
    this.#strays.askThese(family.filter(isLost));
  }

  #lookLater(): void {
    this.#stopLook();
    this.#stopLook = startTimer(this.#lookMs, () => this.look());
    this.#lookMs = Math.min(this.#lookMs * 2, SELDOM_MS);
  }

  #end(gaveUp: boolean): void {
    this.#isOver = true;
    this.#stopGrace();
    this.#stopSteps();
    this.#stopLook();
    this.#over({ forced: this.#forcedAt !== undefined || this.#killedOne, gaveUp });
  }
}
