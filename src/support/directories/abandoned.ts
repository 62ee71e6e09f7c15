import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.js';

/** Limits for one run: the next user of the directory continues. */
const MOST_REMOVED = 64;
const LONGEST_MS = 250;

/** One run at a time looks through the directories of one kind at one place. */
const underWay = new Set<string>();

/**
 * Removes directories that are no longer needed, a few of them, in the background of the command that
 * gives the occasion, and briefly enough not to delay a host that wants to exit.
 *
 * @param prefix The prefix of the names of this kind.
 * @param isAbandoned When it rejects, the directory stays.
 */
export function removeBeside(
  home: string,
  prefix: string,
  isAbandoned: (name: string) => Promise<boolean>,
): void {
  const kind = join(home, prefix);
  if (underWay.has(kind)) return;
  underWay.add(kind);
  removeSome(home, prefix, isAbandoned)
    // Nothing waits for the result, and the next run tries again.
    .catch(() => {})
    .finally(() => underWay.delete(kind));
}

async function removeSome(
  home: string,
  prefix: string,
  isAbandoned: (name: string) => Promise<boolean>,
): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  let removed = 0;
  for (const name of await readdir(home)) {
    if (removed >= MOST_REMOVED || performance.now() > until) return;
    if (!name.startsWith(prefix)) continue;
    // Another host may have removed it first, and an entry that cannot be removed does not stop the others.
    if (!(await isAbandoned(name).catch(() => false))) continue;
    await rm(join(home, name), { recursive: true, force: true }).then(
      () => (removed += 1),
      () => {},
    );
  }
}

/**
 * Returns whether a directory was left by a host that was killed more than `maxAgeMs` ago. After the
 * prefix, its name has the process id of that host.
 */
export async function isAbandoned(
  home: string,
  name: string,
  prefix: string,
  maxAgeMs: number,
): Promise<boolean> {
  if (isAlive(Number.parseInt(name.slice(prefix.length), 10))) return false;
  const { mtimeMs } = await stat(join(home, name));
  return Date.now() - mtimeMs > maxAgeMs;
}

/** Returns whether a process with this id exists, whichever user owns it. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
