import type { ProcessGroup } from './group.js';
import { type ListedProcess, listProcesses } from './processes.js';

/**
 * Those who descend from somebody in a command's group, and have left it. Each is signalled only just
 * after it has been seen, so that it is not another one with its number.
 */
export class Strays {
  readonly #group: ProcessGroup;
  /** All of the command who have been seen, by number and start, at the last look. */
  #family: ReadonlyMap<string, ListedProcess> = new Map();
  /** Those who have had SIGTERM. */
  readonly #asked = new Set<string>();

  constructor(group: ProcessGroup) {
    this.#group = group;
  }

  /** Whether there were none at the last look. */
  get isEmpty(): boolean {
    return this.#strays().length === 0;
  }

  /** Whether the leader was alone at the last look: then nobody can have left its group. */
  get isAlone(): boolean {
    return this.#family.size <= 1;
  }

  /** Looks for them; who has been seen once is known from then on, wherever he goes. */
  async look(): Promise<void> {
    const listed = await listProcesses();
    const isKnown = (process: ListedProcess): boolean => this.#family.has(keyOf(process));
    const family = listed === undefined ? [] : this.#group.familyIn(listed, isKnown);
    this.#family = new Map(family.map((process) => [keyOf(process), process]));
  }

  /** Asks those to end who have not been asked yet. To be called just after {@link look}. */
  ask(): void {
    for (const [key, { pid }] of this.#strays()) {
      if (this.#asked.has(key)) continue;
      this.#asked.add(key);
      signalOne(pid, 'SIGTERM');
      signalOne(pid, 'SIGCONT');
    }
  }

  /** To be called just after {@link look}. */
  kill(): void {
    for (const [, { pid }] of this.#strays()) signalOne(pid, 'SIGKILL');
  }

  #strays(): readonly (readonly [key: string, process: ListedProcess])[] {
    return [...this.#family].filter(([, { processGroup }]) => processGroup !== this.#group.id);
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile, or is another user's: the next look tells.
  }
}

const keyOf = ({ pid, startedAt }: ListedProcess): string => `${pid} ${startedAt}`;
