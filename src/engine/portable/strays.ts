import type { ProcessGroup } from './group.js';
import { type ListedProcess, listProcesses } from './processes.js';

/**
 * Those who have left the group of their command and descend from somebody in it. Each is signalled
 * only just after it has been seen, so that it is not another one with its number.
 */
export class Strays {
  readonly #group: ProcessGroup;
  #seen: readonly ListedProcess[] = [];

  constructor(group: ProcessGroup) {
    this.#group = group;
  }

  /** Whether there were none at the last look. */
  get isEmpty(): boolean {
    return this.#seen.length === 0;
  }

  /** Looks for them, and for those who were there at the last look. */
  async look(): Promise<void> {
    const family = (await this.#group.family()) ?? [];
    const fresh = family.filter(({ processGroup }) => processGroup !== this.#group.id);
    const isKnown = new Set(fresh.map(keyOf));
    const before = this.#seen.filter((stray) => !isKnown.has(keyOf(stray)));
    const listed = before.length > 0 ? await listProcesses() : [];
    const living = new Set(listed?.map(keyOf));
    this.#seen = [...fresh, ...before.filter((stray) => living.has(keyOf(stray)))];
  }

  /** To be called just after {@link look}. */
  signal(signal: NodeJS.Signals): void {
    for (const { pid } of this.#seen) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile, or is another user's: the next look tells.
      }
    }
  }
}

const keyOf = ({ pid, startedAt }: ListedProcess): string => `${pid} ${startedAt}`;
