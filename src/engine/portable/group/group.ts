import { hasCode } from '../../../support/errors.js';
import { familyIn, type ListedProcess, listProcesses } from './processes.js';

/**
 * The process group of a command. Its number belongs to nobody else while anybody of it is there;
 * once it has been seen empty, it is never signalled again.
 */
export class ProcessGroup {
  readonly id: number;
  #isEmpty = false;

  constructor(id: number) {
    this.id = id;
  }

  /** Whether nobody of it is left. Zombies that nobody reaps count as somebody: see `family()`. */
  get isEmpty(): boolean {
    if (!this.#isEmpty) this.signal(0);
    return this.#isEmpty;
  }

  /** Signals all of it; false: nobody is left. */
  signal(signal: NodeJS.Signals | 0): boolean {
    if (this.#isEmpty) return false;
    try {
      process.kill(-this.id, signal);
      return true;
    } catch (error) {
      // EPERM says that somebody is there, and is another user's, or on macOS a zombie.
      if (!hasCode(error, 'ESRCH')) return hasCode(error, 'EPERM');
      this.#isEmpty = true;
      return false;
    }
  }

  /** Who of it runs, and who descends from those; undefined: that can't be looked at. */
  async family(): Promise<readonly ListedProcess[] | undefined> {
    if (this.isEmpty) return [];
    const listed = await listProcesses();
    return listed && this.familyIn(listed, () => false);
  }

  /** The same, of those who have been listed just now; `isKnown`: who belongs to it as well. */
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
