import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acceptPending, dropPending, removePending } from '../../engine/pending/pending.js';
import type {
  Accepted,
  ChangeFacts,
  Changes,
  HeldChanges,
  Reverted,
} from '../../engine/undo/changes.js';
import { ChangesAsTold, NOTHING_REVERTED } from '../undo/elsewhere.js';
import { absoluteIn } from '../undo/revertible.js';
import { DISCARDED } from './store.js';

/** Where changes are held. */
interface PendingPlace {
  /** The directory with all that is held. */
  readonly directory: string;
  readonly id: string;
  /** The directory that paths are relative to. */
  readonly cwd: string;
}

/** Changes that are held in this user's state directory. */
export class HeldChangesHere extends ChangesAsTold<'held'> implements HeldChanges {
  readonly #place: PendingPlace;

  constructor(facts: Omit<ChangeFacts, 'state'>, place: PendingPlace) {
    super('held', facts);
    this.#place = place;
  }

  async accept(paths?: readonly string[]): Promise<Accepted> {
    const { directory, id, cwd } = this.#place;
    return acceptPending(directory, id, absoluteIn(cwd, paths));
  }

  async revert(paths?: readonly string[]): Promise<Reverted> {
    const { directory, id, cwd } = this.#place;
    const only = absoluteIn(cwd, paths);
    if (only !== undefined) return dropPending(directory, id, only);
    // While a sandbox stands on them nothing is removed, and that does it; the next command begins anew.
    await writeFile(join(directory, id, DISCARDED), '', { mode: 0o600 });
    await removePending(directory, id);
    const reverted = this.list.map(({ path }) => path);
    return { ...NOTHING_REVERTED, reverted };
  }
}

/** Changes that never were. */
export class DiscardedChanges extends ChangesAsTold<'discarded'> implements Changes {
  constructor(facts: Omit<ChangeFacts, 'state'>) {
    super('discarded', facts);
  }

  async revert(): Promise<Reverted> {
    return NOTHING_REVERTED;
  }
}
