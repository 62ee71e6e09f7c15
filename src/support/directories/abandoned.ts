import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.js';

/** So much goes at once: whoever begins to use the directory next goes on. */
const MOST_REMOVED = 64;
const LONGEST_MS = 250;

/** A kind of directories at a place is looked through by one at a time. */
const underWay = new Set<string>();

/**
 * Removes what nobody needs any more, a little of it: beside the way of the command that gives the
 * occasion, and not so much that a host that wants to exit would notice.
 *
 * @param prefix What the names of its kind begin with.
 * @param isAbandoned May reject: then it stays.
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
    // Nobody waits for it, and the next one tries again.
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
    // Another host may have been faster, and what cannot be removed keeps nothing else.
    if (!(await isAbandoned(name).catch(() => false))) continue;
    await rm(join(home, name), { recursive: true, force: true }).then(
      () => (removed += 1),
      () => {},
    );
  }
}

/** Whether a host that was killed has left it, long ago: after the prefix its name has that one's id. */
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

/** Whether there is a process of this number, whoever's it is. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
