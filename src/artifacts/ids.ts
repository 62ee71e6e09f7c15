import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { claimName, parseName } from './names.js';

/**
 * Takes the next id of a directory for good. Of several processes that ask at once each gets
 * another one, and none gets one that was taken before a restart.
 */
export async function claimId(directory: string): Promise<number> {
  for (let id = (await highestId(directory)) + 1; ; id += 1) {
    try {
      const claim = await open(join(directory, claimName(id)), 'wx', 0o600);
      await claim.close();
      return id;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}

/** -1 when none has been given away. */
async function highestId(directory: string): Promise<number> {
  let highest = -1;
  for (const name of await readdir(directory)) {
    const entry = parseName(name);
    if (entry !== undefined && entry.kind !== 'draft') highest = Math.max(highest, entry.id);
  }
  return highest;
}
