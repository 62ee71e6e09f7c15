import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { inBatches } from '../../../support/batches.js';
import {
  checkPrivate,
  findUserDirectory,
  makeUserDirectory,
} from '../../../support/directories/private-directory.js';
import {
  findStateDirectory,
  makeStateDirectory,
} from '../../../support/directories/state-directory.js';
import { sweepPlaces } from './sweep.js';

const PREFIX = 'background-';

/** How long an output is kept after the latest possible end of its command. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** The private directory of one detached command. */
export interface TaskPlace {
  readonly id: string;
  readonly directory: string;
  /** The file of its output, which is created with the command. */
  readonly output: string;
}

/**
 * Creates a private directory for a command. It outlives the host, so the host cannot remove it: its name
 * has the second from which on it may be removed, and a later call of this function removes it.
 *
 * @param longestMs The longest that the command can take; undefined: not known.
 * @param linkedIn A directory that is to have a link to the output, and so must be on the same file system.
 * @throws No directory can be created, or the system's error.
 */
export async function makePlace(
  longestMs: number | undefined,
  linkedIn: string | undefined,
): Promise<TaskPlace> {
  const { path } = await makeStateDirectory();
  const isFit = path !== undefined && (linkedIn === undefined || (await areOnOne(path, linkedIn)));
  const home = isFit ? path : await makeUserDirectory();
  const removable = Math.ceil((Date.now() + (longestMs ?? 0) + KEPT_MS) / 1000);
  const directory = await mkdtemp(join(home, `${PREFIX}${removable}-`));
  for (const each of new Set([home, ...(await findHomes())])) sweepPlaces(each, PREFIX, KEPT_MS);
  return placeAt(directory);
}

/** Returns whether two directories are on one file system, so that a file of one can be linked in the other. */
async function areOnOne(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)]);
  return first.dev === second.dev;
}

/** Removes the directory with its contents. */
export async function removePlace({ directory }: TaskPlace): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

const NAMED = new RegExp(`^${PREFIX}\\d+-[A-Za-z0-9]+$`);

/**
 * Finds all places of the user, oldest names first; skips those with another owner or mode than they were
 * created with.
 */
export async function findPlaces(): Promise<TaskPlace[]> {
  return findPlacesNamed((name) => NAMED.test(name));
}

/** Finds the place with this id, without looking at any other. */
export async function findPlace(id: string): Promise<TaskPlace | undefined> {
  const [place] = await findPlacesNamed(
    (name) => name.endsWith(`-${id}`) && NAMED.test(name) && idIn(name) === id,
  );
  return place;
}

async function findPlacesNamed(isMeant: (name: string) => boolean): Promise<TaskPlace[]> {
  const found = await Promise.all(
    (await findHomes()).map(async (home) => {
      const names = (await readdir(home)).filter(isMeant).sort();
      return inBatches(names, (name) => {
        const directory = join(home, name);
        return checkPrivate(directory).then(
          () => placeAt(directory),
          () => undefined,
        );
      });
    }),
  );
  return found.flat().filter((place) => place !== undefined);
}

/**
 * Returns the directories with places: that of the user's state; and that in the temporary directory, where
 * they are without a home, and where earlier versions have put them.
 *
 * @throws There is only the latter, and it is open to others, or not the user's.
 */
async function findHomes(): Promise<string[]> {
  const { path } = await findStateDirectory();
  const temporary = await findUserDirectory().catch((error: unknown) => {
    if (path === undefined) throw error;
    return undefined;
  });
  return [path, temporary].filter((home) => home !== undefined);
}

function placeAt(directory: string): TaskPlace {
  const id = idIn(basename(directory));
  return { id, directory, output: join(directory, 'output') };
}

function idIn(name: string): string {
  return name.slice(name.lastIndexOf('-') + 1);
}
