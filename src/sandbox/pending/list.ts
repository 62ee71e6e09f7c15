import { dirname } from 'node:path';
import { acceptPending, type PendingFacts, readPending } from '../../engine/pending/pending.js';
import type { Accepted, Changes, CommandChanges, HeldChanges } from '../../engine/undo/changes.js';
import { messageOf } from '../../support/errors.js';
import { isAmong } from '../paths.js';
import { noFacts } from '../undo/elsewhere.js';
import { absoluteIn } from '../undo/revertible.js';
import { DiscardedChanges, HeldChangesHere } from './changes-here.js';
import type { PendingSet } from './pending-set.js';
import { aboutPending, pendingDirectory, pendingIn } from './store.js';

type KnownSet = PendingSet & { readonly isDiscarded: boolean };

/** Lists what is held, without what is discarded. `places`: only below these. */
export async function listPending(
  places: readonly string[] | undefined,
): Promise<readonly CommandChanges[]> {
  const directory = pendingDirectory();
  if (directory === undefined) return [];
  const found: CommandChanges[] = [];
  for (const id of await pendingIn(directory)) {
    const about = await heldAbout(id);
    if (about === undefined) continue;
    const { at, workspace: cwd } = about;
    if (places !== undefined && !isAmong(cwd, places)) continue;
    const facts = await readPending(directory, id).catch(unread);
    const { list: _, more: __, ...counts } = facts;
    found.push({ state: 'held', ...counts, id, at, cwd, isReverted: false });
  }
  return found;
}

/** Returns what is held by an id. Undefined: nothing. */
export async function findPending(id: unknown): Promise<HeldChanges | undefined> {
  const about = await heldAbout(id);
  if (about === undefined) return undefined;
  const { directory, workspace: cwd } = about;
  const facts = await readPending(directory, about.id);
  return new HeldChangesHere({ id: about.id, ...facts }, { directory, id: about.id, cwd });
}

/**
 * Puts what is held by an id into effect. Undefined: nothing is.
 *
 * @throws {InputError} `paths` is not an array of paths.
 */
export async function acceptHeld(
  id: unknown,
  paths: readonly string[] | undefined,
): Promise<Accepted | undefined> {
  const about = await heldAbout(id);
  return about && acceptPending(about.directory, about.id, absoluteIn(about.workspace, paths));
}

/** Returns what is told of what is held by an id, and is not to be discarded. */
async function heldAbout(id: unknown) {
  const directory = pendingDirectory();
  const about = directory === undefined ? undefined : await aboutPending(directory, id);
  if (directory === undefined || about === undefined || about.isDiscarded) return undefined;
  return { ...about, directory };
}

/** Reads the changes of a set, relative to a directory. */
export async function readSet(set: KnownSet, cwd: string): Promise<Changes | HeldChanges> {
  return told(set, cwd, await readPending(dirname(set.directory), set.id));
}

/** Does so for a result: its command has run, also where they can't be read. */
export async function readUsedSet(set: KnownSet, cwd: string): Promise<Changes | HeldChanges> {
  return told(set, cwd, await readPending(dirname(set.directory), set.id).catch(unread));
}

function told(
  { id, directory, isDiscarded }: KnownSet,
  cwd: string,
  facts: PendingFacts,
): Changes | HeldChanges {
  if (isDiscarded) return new DiscardedChanges(facts);
  return new HeldChangesHere({ id, ...facts }, { directory: dirname(directory), id, cwd });
}

/** What is known of changes that can't be read. */
function unread(error: unknown): PendingFacts {
  return noFacts(`what is held can't be read: ${messageOf(error)}`);
}
