import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeBeside } from '../../artifacts/abandoned.js';
import { makeUserDirectory } from '../../artifacts/private-directory.js';
import { inBatches } from '../../support/batches.js';

const PREFIX = 'background-';

/** How long an output is kept after the latest end that its command can have. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/**
 * Makes a private directory for the output of one background command, and returns the path of a file
 * in it that is not there yet. It outlives the host, so nobody is there to remove it: its name says
 * from which second on it may go, and whoever makes the next one sees to that.
 *
 * @param longestMs The longest that the command can take.
 */
export async function makeOutputFile(longestMs: number): Promise<string> {
  const home = await makeUserDirectory();
  const removable = Math.ceil((Date.now() + longestMs + KEPT_MS) / 1000);
  const directory = await mkdtemp(join(home, `${PREFIX}${removable}-`));
  let inUse: Promise<ReadonlySet<string>> | undefined;
  removeBeside(home, PREFIX, async (name) => {
    if (!(Number.parseInt(name.slice(PREFIX.length), 10) < Date.now() / 1000)) return false;
    // The clock may have been set: what still runs keeps its file.
    inUse ??= findOpenFiles(home);
    return !(await inUse).has(join(home, name, 'output'));
  });
  return join(directory, 'output');
}

/** Removes such a file with its directory. */
export async function removeOutputFile(path: string): Promise<void> {
  await rm(dirname(path), { recursive: true, force: true });
}

/** The files below a directory that a process of the user has open. */
async function findOpenFiles(home: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  await inBatches(pids, async (pid) => {
    // Those of others cannot be looked at, and have none of the user's private files.
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const path = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (path.startsWith(`${home}/`)) found.add(path);
    }
  });
  return found;
}
