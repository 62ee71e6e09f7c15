import { dirname } from 'node:path';
import { readPending } from '../../engine/pending/pending.js';
import type { Changes, CommandChanges, HeldChanges } from '../../engine/undo/changes.js';
import { messageOf } from '../../support/errors.js';
import { isAmong } from '../paths.js';
import { DiscardedChanges, HeldChangesHere } from './changes-here.js';
import type { PendingSet } from './pending-set.js';
import { aboutPending, pendingDirectory, pendingIn } from './store.js';

/** Lists what is held, without what is discarded. `places`: only below these. */
export async function listPending(
  places: readonly string[] | undefined,
): Promise<readonly CommandChanges[]> {
  const directory = pendingDirectory();
  if (directory === undefined) return [];
  const found: CommandChanges[] = [];
  for (const id of await pendingIn(directory)) {
    const about = await aboutPending(directory, id);
    if (about === undefined || about.isDiscarded) continue;
    if (places !== undefined && !isAmong(about.workspace, places)) continue;
    const { list: _, more: __, ...counts } = await readPending(directory, id);
    const known = { id, at: about.at, cwd: about.workspace };
    found.push({ ...known, state: 'held', ...counts, isReverted: false });
  }
  return found;
}

/** Returns what is held by an id. Undefined: nothing. */
export async function findPending(id: unknown): Promise<HeldChanges | undefined> {
  const directory = pendingDirectory();
  const about = directory === undefined ? undefined : await aboutPending(directory, id);
  if (directory === undefined || about === undefined || about.isDiscarded) return undefined;
  const facts = await readPending(directory, about.id);
  const place = { directory, id: about.id, cwd: about.workspace };
  return new HeldChangesHere({ id: about.id, ...facts }, place);
}

/** Returns what is told of a set that can't be read: the command has run all the same. */
export function unknownSet(
  { id, directory, isDiscarded }: KnownSet,
  cwd: string,
  error: unknown,
): Changes | HeldChanges {
  const unseen = [`what is held can't be read: ${messageOf(error)}`];
  const counts = { created: 0, changed: 0, deleted: 0, renamed: 0, unrevertable: [] };
  const facts = { list: [], more: 0, ...counts, complete: false, unseen };
  const place = { directory: dirname(directory), id, cwd };
  return isDiscarded ? new DiscardedChanges(facts) : new HeldChangesHere({ id, ...facts }, place);
}

type KnownSet = PendingSet & { readonly isDiscarded: boolean };

/** Reads the changes of a set, relative to a directory. */
export async function readSet(
  { id, directory, isDiscarded }: KnownSet,
  cwd: string,
): Promise<Changes | HeldChanges> {
  const place = { directory: dirname(directory), id, cwd };
  const facts = await readPending(place.directory, id);
  return isDiscarded ? new DiscardedChanges(facts) : new HeldChangesHere({ id, ...facts }, place);
}
