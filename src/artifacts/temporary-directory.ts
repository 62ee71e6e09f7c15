import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeUserDirectory } from './private-directory.js';

/** Those that are to be removed when the host exits without having disposed of them. */
const open = new Set<string>();
let watching = false;

/**
 * Makes a directory for one store or the like, below one for the user in the system's temporary one.
 *
 * @param prefix What the names of its kind begin with.
 * @param maxAgeMs After which such a directory of a host that was killed goes.
 */
export async function makeTemporaryDirectory(prefix: string, maxAgeMs: number): Promise<string> {
  const home = await makeUserDirectory();
  await removeAbandoned(home, prefix, maxAgeMs);
  const directory = await mkdtemp(join(home, `${prefix}${process.pid}-`));
  open.add(directory);
  if (!watching) process.once('exit', removeOpen);
  watching = true;
  return directory;
}

/** Removes such a directory, with what is in it. */
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

/** What hosts that were killed have left, once it is old. */
async function removeAbandoned(home: string, prefix: string, maxAgeMs: number): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) {
      continue;
    }
    const path = join(home, name);
    try {
      const { mtimeMs } = await stat(path);
      if (Date.now() - mtimeMs > maxAgeMs) await rm(path, { recursive: true, force: true });
    } catch {
      // Another host was faster.
    }
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
