import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { inBatches } from '../../../support/batches.js';
import {
  checkPrivate,
  findUserDirectory,
  makeUserDirectory,
} from '../../../support/directories/private-directory.js';
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
 * @throws No directory can be created, or the system's error.
 */
export async function makePlace(longestMs: number | undefined): Promise<TaskPlace> {
  const home = await makeUserDirectory();
  const removable = Math.ceil((Date.now() + (longestMs ?? 0) + KEPT_MS) / 1000);
  const directory = await mkdtemp(join(home, `${PREFIX}${removable}-`));
  sweepPlaces(home, PREFIX, KEPT_MS);
  return placeAt(directory);
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
  const home = await findUserDirectory();
  if (home === undefined) return [];
  const names = (await readdir(home)).filter((name) => NAMED.test(name)).sort();
  const places = await inBatches(names, async (name) => {
    const directory = join(home, name);
    const check = checkPrivate(directory).then(() => placeAt(directory));
    return check.catch(() => undefined);
  });
  return places.filter((place) => place !== undefined);
}

function placeAt(directory: string): TaskPlace {
  const name = basename(directory);
  const id = name.slice(name.lastIndexOf('-') + 1);
  return { id, directory, output: join(directory, 'output') };
}
