import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { inBatches } from '../../../support/batches.js';
import { removeBeside } from '../../../support/directories/abandoned.js';
import { KeeperConnection, KeeperSilent } from '../keeper/connection.js';
import { OtherVersion } from '../keeper/keeper-state.js';
import { readRecord } from './record.js';

/**
 * Removes some of the places that have expired, in the background of the call: their names have the
 * second from which on that is allowed. A running command keeps its place, since the clock may have been
 * set, and a command may have no time limit.
 *
 * @param keptMs How long a place is kept after the end of its command.
 */
export function sweepPlaces(home: string, prefix: string, keptMs: number): void {
  let inUse: Promise<ReadonlySet<string>> | undefined;
  removeBeside(home, prefix, async (name) => {
    const now = Date.now();
    if (!(Number.parseInt(name.slice(prefix.length), 10) < now / 1000)) return false;
    const directory = join(home, name);
    inUse ??= findOpenFiles(home);
    if ((await inUse).has(join(directory, 'output')) || (await isKept(directory))) return false;
    const stage = (await readRecord(directory))?.stage;
    return stage?.kind !== 'ended' || now - stage.goneAt > keptMs;
  });
}

/** Returns whether the task's keeper runs. */
async function isKept(directory: string): Promise<boolean> {
  try {
    (await KeeperConnection.open(directory)).close();
    return true;
  } catch (error) {
    return error instanceof KeeperSilent || error instanceof OtherVersion;
  }
}

/** Returns the files below a directory that a process of the user has open. */
async function findOpenFiles(home: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  await inBatches(pids, async (pid) => {
    // Processes of other users cannot be examined, and have none of the user's private files open.
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const path = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (path.startsWith(`${home}/`)) found.add(path);
    }
  });
  return found;
}
