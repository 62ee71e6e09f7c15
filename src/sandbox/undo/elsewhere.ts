import type {
  Accepted,
  ChangeFacts,
  Changes,
  HeldChanges,
  Reverted,
} from '../../engine/undo/changes.js';

/** Changes of a list that are sent to another machine with one result, at most. */
const MOST_SENT = 1000;

/** Returns what another machine is told of changes. */
export function changeFacts(changes: Changes | HeldChanges): ChangeFacts {
  const { state, id, list, more, created, changed, deleted, renamed } = changes;
  const { complete, unseen, unrevertable } = changes;
  const sent = list.slice(0, MOST_SENT);
  return {
    state,
    ...(id !== undefined && { id }),
    list: sent,
    more: more + list.length - sent.length,
    ...{ created, changed, deleted, renamed, complete, unseen },
    unrevertable: unrevertable.slice(0, MOST_SENT),
  };
}

/** Returns what is told of changes of which none is known. `unseen`: why. */
export function noFacts(...unseen: readonly string[]): Omit<ChangeFacts, 'state'> {
  const counts = { created: 0, changed: 0, deleted: 0, renamed: 0 };
  const complete = unseen.length === 0;
  return { list: [], more: 0, ...counts, complete, unseen, unrevertable: [] };
}

/** What is taken back of nothing. */
export const NOTHING_REVERTED: Reverted = { reverted: [], conflicts: [], lost: [] };

/** The fields of changes. The methods are those of a class, so that a copy as plain data has the facts alone. */
export abstract class ChangesAsTold<State extends ChangeFacts['state']> implements ChangeFacts {
  readonly state: State;
  /** Declared alone, so that without changes there is no such field. */
  declare readonly id?: string;
  readonly list: ChangeFacts['list'];
  readonly more: number;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  readonly renamed: number;
  readonly complete: boolean;
  readonly unseen: ChangeFacts['unseen'];
  readonly unrevertable: ChangeFacts['unrevertable'];

  constructor(state: State, facts: Omit<ChangeFacts, 'state'>) {
    this.state = state;
    if (facts.id !== undefined) this.id = facts.id;
    this.list = facts.list;
    this.more = facts.more;
    this.created = facts.created;
    this.changed = facts.changed;
    this.deleted = facts.deleted;
    this.renamed = facts.renamed;
    this.complete = facts.complete;
    this.unseen = facts.unseen;
    this.unrevertable = facts.unrevertable;
  }

  abstract revert(paths?: readonly string[]): Promise<Reverted>;
}

/** Changes on another machine, where alone they can be taken back. */
class ChangesThere extends ChangesAsTold<'made' | 'discarded'> implements Changes {
  async revert(): Promise<Reverted> {
    if (this.id === undefined || this.state === 'discarded') return NOTHING_REVERTED;
    throw new Error(
      `the changes are on the far side: run \`forkline revert ${this.id}\` there to take them back`,
    );
  }
}

/** Changes that are held on another machine, where alone they can be accepted or dropped. */
class HeldChangesThere extends ChangesAsTold<'held'> implements HeldChanges {
  async accept(): Promise<Accepted> {
    return this.#refuse('accept', 'put them into effect');
  }

  async revert(): Promise<Reverted> {
    return this.#refuse('revert', 'drop them');
  }

  #refuse(command: 'accept' | 'revert', what: string): never {
    const line = `forkline ${command} ${this.id ?? ''}`.trimEnd();
    throw new Error(`the changes are held on the far side: run \`${line}\` there to ${what}`);
  }
}

/** Returns changes that another machine tells of. */
export function changesThere({ state, ...facts }: ChangeFacts): Changes | HeldChanges {
  if (state === 'held') return new HeldChangesThere(state, facts);
  // One of an earlier version says nothing of it.
  return new ChangesThere(state ?? 'made', facts);
}
