import type { ProcessGroup } from './group.js';
import { type ListedProcess, listProcesses } from './processes.js';

/**
 * Descendants of processes in a command's group that have left the group. Each is signalled only just
 * after it has been listed, so that no other process with its number is hit.
 */
export class Strays {
  readonly #group: ProcessGroup;
  /** All processes of the command at the last look, by number and start time. */
  #family: ReadonlyMap<string, ListedProcess> = new Map();
  /** Processes that were sent SIGTERM. */
  readonly #asked = new Set<string>();

  constructor(group: ProcessGroup) {
    this.#group = group;
  }

  /** Returns whether there were none at the last look. */
  get isEmpty(): boolean {
    return this.#strays().length === 0;
  }

  /** Returns whether the leader was alone at the last look: then no process can have left its group. */
  get isAlone(): boolean {
    return this.#family.size <= 1;
  }

  /** All processes of the command at the last look, parents before their children. */
  get family(): readonly ListedProcess[] {
    return [...this.#family.values()];
  }

  /** Looks for them; a process that was seen once stays known, wherever it goes. */
  async look(): Promise<void> {
    const listed = await listProcesses();
    const isKnown = (process: ListedProcess): boolean => this.#family.has(keyOf(process));
    const family = listed === undefined ? [] : this.#group.familyIn(listed, isKnown);
    this.#family = new Map(family.map((process) => [keyOf(process), process]));
  }

  /** Sends SIGTERM to those that have not had it. To be called just after {@link look}. */
  ask(): void {
    this.askThese(this.#strays().map(([, process]) => process));
  }

  /** Sends SIGTERM to these, unless they have had it one by one. To be called just after {@link look}. */
  askThese(processes: readonly ListedProcess[]): void {
    for (const process of processes) {
      const key = keyOf(process);
      if (this.#asked.has(key)) continue;
      this.#asked.add(key);
      signalOne(process.pid, 'SIGTERM');
      signalOne(process.pid, 'SIGCONT');
    }
  }

  /** Sends SIGKILL to all of them. To be called just after {@link look}. */
  kill(): void {
    for (const [, { pid }] of this.#strays()) signalOne(pid, 'SIGKILL');
  }

  #strays(): readonly (readonly [key: string, process: ListedProcess])[] {
    return [...this.#family].filter(([, { processGroup }]) => processGroup !== this.#group.id);
  }
}

export function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile, or belongs to another user: the next look tells.
  }
}

export const keyOf = ({ pid, startedAt }: ListedProcess): string => `${pid} ${startedAt}`;
