import type { LimitGroups } from '../command/limits/groups.js';

/** What the control groups of a shell have counted during one call. */
export interface LimitNews {
  /** Whether a process was ended for memory. */
  readonly ranOutOfMemory: boolean;
  /** How often a process could not be started. */
  readonly refusedProcesses: number;
}

const NO_NEWS: LimitNews = { ranOutOfMemory: false, refusedProcesses: 0 };

/** The counts of a shell's control groups at its last look; the groups count for all calls together. */
export class LimitCounts {
  readonly #groups: LimitGroups | undefined;
  #kills = 0;
  #refusals = 0;

  constructor(groups: LimitGroups | undefined) {
    this.#groups = groups;
  }

  /** Returns what was counted since the last look. */
  async look(): Promise<LimitNews> {
    if (this.#groups === undefined) return NO_NEWS;
    const [kills, refusals] = await Promise.all([
      this.#groups.memoryKillsSoFar(),
      this.#groups.refusedProcessesSoFar(),
    ]);
    const news = {
      ranOutOfMemory: kills > this.#kills,
      refusedProcesses: Math.max(0, refusals - this.#refusals),
    };
    [this.#kills, this.#refusals] = [kills, refusals];
    return news;
  }
}
