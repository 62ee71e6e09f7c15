import { link, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { HostDirectory } from '../support/directories/host-files.js';
import { hasCode } from '../support/errors.js';
import { claimId, type IdFloor } from './ids.js';
import { artifactName } from './names.js';

/** An artifact's file that has its name while it is still written. */
interface EarlyFile {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
}

/**
 * Gives a draft that is still written the name of an artifact besides its own, under which the engine looks
 * after it.
 *
 * @returns Undefined: the draft has no file.
 */
export async function nameEarly(
  place: HostDirectory,
  draft: string,
  tool: string,
  ids: IdFloor,
): Promise<EarlyFile | undefined> {
  const bytes = await place.look(draft).then(
    ({ size }) => size,
    (error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    },
  );
  if (bytes === undefined) return undefined;
  const id = await claimId(place, ids);
  const name = artifactName(id, tool);
  await link(place.at(draft), place.at(name));
  return { id, name, bytes };
}

/**
 * Gives a draft its final name.
 *
 * @param early Path of the artifact that it has been meanwhile.
 */
export async function nameFinally(
  place: HostDirectory,
  draft: string,
  name: string,
  early: string | undefined,
): Promise<void> {
  await rename(place.at(draft), place.at(name));
  // Two names of one file: then renaming does nothing.
  await rm(place.at(draft), { force: true });
  const before = early && basename(early);
  if (before !== undefined && before !== name) await rm(place.at(before), { force: true });
}
