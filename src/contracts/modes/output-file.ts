import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeUserDirectory } from '../../artifacts/private-directory.js';

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
  await removeOld(home);
  const removable = Math.ceil((Date.now() + longestMs + KEPT_MS) / 1000);
  const directory = await mkdtemp(join(home, `${PREFIX}${removable}-`));
  return join(directory, 'output');
}

/** Removes such a file with its directory. */
export async function removeOutputFile(path: string): Promise<void> {
  await rm(dirname(path), { recursive: true, force: true });
}

async function removeOld(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const removable = Number.parseInt(name.slice(PREFIX.length), 10);
    if (name.startsWith(PREFIX) && removable < Date.now() / 1000) {
      // One that cannot be removed must not keep a command from being started.
      await rm(join(home, name), { recursive: true, force: true }).catch(() => {});
    }
  }
}
