import { hasCode } from '../../../support/errors.js';
import { familyIn, type ListedProcess, listProcesses } from './processes.js';

/**
 * The process group of a command. No other group has its number while a process of it exists; once it was
 * seen empty, it is never signalled again.
 */
export class ProcessGroup {
  readonly id: number;
  #isEmpty = false;

  constructor(id: number) {
    this.id = id;
  }

  /** Returns whether no process of it is left. Unreaped zombies count as processes: see `family()`. */
  get isEmpty(): boolean {
    if (!this.#isEmpty) this.signal(0);
    return this.#isEmpty;
  }

  /** Signals the group. Returns false when no process is left. */
  signal(signal: NodeJS.Signals | 0): boolean {
    if (this.#isEmpty) return false;
    try {
      process.kill(-this.id, signal);
      return true;
    } catch (error) {
      // EPERM means that a process exists, which is another user's, or on macOS a zombie.
      if (!hasCode(error, 'ESRCH')) return hasCode(error, 'EPERM');
      this.#isEmpty = true;
      return false;
    }
  }

  /**
   * Returns the running processes of the group, and their descendants; undefined when they cannot be
   * listed.
   */
  async family(): Promise<readonly ListedProcess[] | undefined> {
    if (this.isEmpty) return [];
    const listed = await listProcesses();
    return listed && this.familyIn(listed, () => false);
  }

  /** Returns the same from a fresh list; `isKnown` tells which processes belong to it as well. */
  familyIn(
    listed: readonly ListedProcess[],
    isKnown: (process: ListedProcess) => boolean,
  ): readonly ListedProcess[] {
    const isMember = ({ processGroup }: ListedProcess): boolean =>
      !this.#isEmpty && processGroup === this.id;
    if (!listed.some(isMember)) this.#isEmpty = true;
    return familyIn(listed, (process) => isMember(process) || isKnown(process));
  }
}
