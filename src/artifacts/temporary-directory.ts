import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbandoned, removeBeside } from '../support/directories/abandoned.js';
import { makeUserDirectory } from '../support/directories/private-directory.js';

/** Directories to remove when the host exits without having disposed of them. */
const open = new Set<string>();
let watching = false;

/**
 * Creates a directory for one store or the like, below the user's directory in the system's temporary
 * directory.
 *
 * @param prefix The prefix of the names of this kind.
 * @param maxAgeMs The age at which such a directory is removed if its host was killed.
 */
export async function makeTemporaryDirectory(prefix: string, maxAgeMs: number): Promise<string> {
  const home = await makeUserDirectory();
  const directory = await mkdtemp(join(home, `${prefix}${process.pid}-`));
  open.add(directory);
  if (!watching) process.once('exit', removeOpen);
  watching = true;
  removeBeside(home, prefix, (name) => isAbandoned(home, name, prefix, maxAgeMs));
  return directory;
}

/** Removes such a directory, with its contents. */
export async function removeTemporaryDirectory(directory: string): Promise<void> {
  open.delete(directory);
  await rm(directory, { recursive: true, force: true });
}

function removeOpen(): void {
  for (const directory of open) {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // A later host removes it.
    }
  }
}
