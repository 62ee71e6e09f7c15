import { realpathSync } from 'node:fs';
import type {
  Accepted,
  Changes,
  CommandChanges,
  HeldChanges,
  Reverted,
} from '../../engine/undo/changes.js';
import { type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import { absolutePath } from '../../support/paths.js';
import { acceptHeld, findPending, listPending } from '../pending/list.js';
import { findMade, listMade, revertMade } from '../undo/list.js';

/** Which changes are listed. */
export interface ListChangesOptions {
  /** A directory: only commands that were in it, or have changed something there. Default: all of the user. */
  readonly workspace?: string | URL | undefined;
}

const OPTION_NAMES: OptionNames<ListChangesOptions> = { workspace: true };

/**
 * Lists the commands of this user that have changed something, and whose changes can be taken back or are held, the
 * oldest first; also those of hosts that have ended. A command is not listed any more 14 days later, or when there are
 * more than 1,000, or 4 GiB of records. What is held for one policy is listed once, for all commands with it.
 *
 * ```ts
 * for (const { id, command, changed } of await listChanges({ workspace: '/work/project' })) {
 *   console.log(id, command, changed);
 * }
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {Error} The directory of the records belongs to another user, or is open to others; or the system's error.
 */
export async function listChanges(
  options: ListChangesOptions = {},
): Promise<readonly CommandChanges[]> {
  const { workspace } = readOptions('options', options, OPTION_NAMES);
  const within = workspace === undefined ? undefined : absolutePath('workspace', workspace);
  const places = within === undefined ? undefined : [within, realOf(within)];
  const all = [...(await listMade(places)), ...(await listPending(places))];
  return all.sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
}

/**
 * Returns the changes of a command by its id, or what is held by it; also of a host that has ended.
 *
 * @throws {InputError} Nothing is known by this id.
 * @throws {Error} The record of the changes can't be read.
 */
export async function findChanges(id: string): Promise<Changes | HeldChanges> {
  return (await findPending(id)) ?? findMade(id);
}

/**
 * Takes back what a command has changed, by the id of its changes; also one of a host that has ended. What is held is
 * dropped.
 *
 * @param paths As for `revert()` of {@link Changes}. Default: all.
 * @throws {InputError} Nothing is known by this id, or `paths` is not an array of paths.
 * @throws {Error} The record of the changes can't be read.
 */
export async function revertChanges(id: string, paths?: readonly string[]): Promise<Reverted> {
  const pending = await findPending(id);
  return pending === undefined ? revertMade(id, paths) : pending.revert(paths);
}

/**
 * Puts changes into effect that are held, by their id; also those of a host that has ended.
 *
 * @param paths As for `accept()` of {@link HeldChanges}. Default: all.
 * @throws {InputError} Nothing is held by this id, or `paths` is not an array of paths.
 * @throws {Error} What is held can't be read, or is being accepted.
 */
export async function acceptChanges(id: string, paths?: readonly string[]): Promise<Accepted> {
  const accepted = await acceptHeld(id, paths);
  if (accepted !== undefined) return accepted;
  throw new InputError(`id: expected that of held changes, got ${showValue(id)}`);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
