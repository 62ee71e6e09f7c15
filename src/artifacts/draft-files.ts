import { futimes } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type HostDirectory, inDirectory } from '../support/directories/host-files.js';
import { hasCode } from '../support/errors.js';
import { formatSize } from '../support/text.js';

/** Of a descriptor, since the handles of yarn's PnP have no `utimes()`. */
export const setTimes = promisify(futimes);

/** Does the work that makes a draft an artifact; if that fails, removes the draft. */
export async function orRemove<T>(
  place: HostDirectory,
  draft: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rm(place.at(draft), { force: true });
    throw error;
  }
}

/** Says at the end of a file how much it does not have, and why. */
export async function tellDropped(file: FileHandle, dropped: number, why: string): Promise<void> {
  try {
    await file.appendFile(`\n[… ${formatSize(dropped)} more were not kept: ${why} …]\n`);
  } catch {
    // A full disk has no room for this line either; the result says it too.
  }
}

/** Returns no names for a directory that does not exist any more. */
export function noneIfRemoved(error: unknown): string[] {
  if (hasCode(error, 'ENOENT')) return [];
  throw error;
}

/** Returns the size of a file; undefined: it was swept meanwhile. */
export async function sizeOf(directory: string, name: string): Promise<number | undefined> {
  try {
    return (await inDirectory(directory, ({ look }) => look(name))).size;
  } catch {
    return undefined;
  }
}
