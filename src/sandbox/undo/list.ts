import type { Change, Changes, CommandChanges, Reverted } from '../../engine/undo/changes.js';
import { readJournals } from '../../engine/undo/journal.js';
import { InputError, messageOf, showValue } from '../../support/errors.js';
import { hostDirectory } from '../../support/paths.js';
import { isAmong } from '../paths.js';
import { noFacts } from './elsewhere.js';
import { absoluteIn, RevertibleChanges, revertById } from './revertible.js';
import {
  aboutJournal,
  JOURNAL_ID,
  type JournalAbout,
  type JournalCommand,
  journalsIn,
  undoDirectory,
} from './store.js';

/** Lists the commands of this user that have changed something. `places`: only in these, or what has changed there. */
export async function listMade(
  places: readonly string[] | undefined,
): Promise<readonly CommandChanges[]> {
  const directory = undoDirectory();
  if (directory === undefined) return [];
  const found: CommandChanges[] = [];
  for (const id of await journalsIn(directory)) {
    const about = await aboutJournal(directory, id);
    if (about === undefined) continue;
    const { list, changes } = await readOne(directory, about);
    const isThere = (path: string) => places === undefined || isAmong(path, places);
    // Of a command whose host was killed, only what it has changed tells where it was.
    const isMeant = placesOf(about).some(isThere) || list.some((one) => isThere(one.path));
    if (places === undefined || isMeant) found.push(changes);
  }
  return found;
}

/**
 * Returns the changes of a command by its id.
 *
 * @throws {InputError} Nothing is known by this id.
 * @throws {Error} The record of the changes can't be read.
 */
export async function findMade(id: string): Promise<Changes> {
  const { directory, about } = await find(id);
  const { isReverted: _, ...facts } = await readJournals(directory, [id]);
  return new RevertibleChanges({ id, ...facts }, [id], directoryOf(about));
}

/**
 * Takes back what a command has changed, by the id of its changes.
 *
 * @throws {InputError} Nothing is known by this id, or `paths` is not an array of paths.
 * @throws {Error} The record of the changes can't be read.
 */
export async function revertMade(id: string, paths?: readonly string[]): Promise<Reverted> {
  const { about } = await find(id);
  return revertById([id], absoluteIn(directoryOf(about), paths));
}

/**
 * Returns how much a command has changed; undefined: its journal is gone.
 *
 * @param command What is known of the command, if its journal does not tell.
 */
export async function changesOf(
  id: string,
  command: JournalCommand,
): Promise<CommandChanges | undefined> {
  const directory = undoDirectory();
  if (directory === undefined) return undefined;
  const about = await aboutJournal(directory, id);
  if (about === undefined) return undefined;
  const known = { ...about, command: about.command ?? command };
  return (await readOne(directory, known)).changes;
}

async function find(id: string): Promise<{ directory: string; about: JournalAbout }> {
  const directory = undoDirectory();
  const isId = typeof id === 'string' && JOURNAL_ID.test(id);
  const about = directory && isId ? await aboutJournal(directory, id) : undefined;
  if (directory !== undefined && about !== undefined) return { directory, about };
  throw new InputError(`id: expected that of recorded changes, got ${showValue(id)}`);
}

/** Reads a journal; one that can't be read is what is not known. */
async function readOne(
  directory: string,
  { id, at, command }: JournalAbout,
): Promise<{ readonly list: readonly Change[]; readonly changes: CommandChanges }> {
  const known = {
    id,
    at,
    ...(command !== undefined && { command: command.line, cwd: command.cwd }),
  };
  try {
    const { list, more: _, ...counts } = await readJournals(directory, [id]);
    return { list, changes: { ...known, ...counts } };
  } catch (error) {
    const reason = `the record of them can't be read: ${messageOf(error)}`;
    const { list, more: _, ...counts } = noFacts(reason);
    return { list, changes: { state: 'made', ...counts, ...known, isReverted: false } };
  }
}

/** The directory that paths are relative to. */
function directoryOf({ command, workspace }: JournalAbout): string {
  return command?.cwd ?? workspace ?? hostDirectory() ?? '/';
}

function placesOf({ workspace, command }: JournalAbout): readonly string[] {
  return [workspace, command?.cwd].filter((path) => path !== undefined);
}
