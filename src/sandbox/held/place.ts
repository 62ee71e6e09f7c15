import { chown, lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type HeldDirectory, holdDirectory } from '../../support/directories/held-directory.js';
import { hasCode } from '../../support/errors.js';
import type { HeldRecord } from './record.js';

/**
 * Holds the directory of a change by its descriptor; undefined: there is none, or another one than when the change
 * was held back. Commands may have made the directories on the way: no link is followed.
 *
 * Below the directory that was there, what is missing is made for a new setting of a program (`.vscode`); nothing is
 * made for git, whose directory has been moved or removed.
 *
 * @throws The system's error.
 */
export async function holdPlace(record: HeldRecord): Promise<HeldDirectory | undefined> {
  const parent = dirname(record.path);
  const { base, reason } = record;
  if (base === undefined) return holdExactly(parent);
  const top = await holdExactly(base.path);
  if (top === undefined || base.path === parent) return sameAs(base.identity, top);
  let held = await sameAs(base.identity, top);
  const names = parent.slice(base.path.length).split('/').filter(Boolean);
  for (const name of names) {
    if (held === undefined) return undefined;
    const above: HeldDirectory = held;
    try {
      held = await holdIn(above, name, reason === 'unknown-content');
    } finally {
      await above.close();
    }
  }
  return held;
}

/** Holds the directory that has exactly this path, with no link on it; undefined: there is none. */
async function holdExactly(path: string): Promise<HeldDirectory | undefined> {
  const held = await holdOrNone(path);
  if (held === undefined || (await realpath(held.at('.'))) === path) return held;
  await held.close();
  return undefined;
}

/** Returns a directory if it is the one that is meant; else it is closed. */
async function sameAs(
  identity: string,
  held: HeldDirectory | undefined,
): Promise<HeldDirectory | undefined> {
  if (held === undefined) return undefined;
  const { dev, ino, birthtimeNs } = await lstat(held.at('.'), { bigint: true });
  const [device, inode, made] = identity.split(':');
  // A device may have another number once the machine has started again.
  const isSame = made === undefined ? device === `${dev}` : made === `${birthtimeNs}`;
  if (isSame && inode === `${ino}`) return held;
  await held.close();
  return undefined;
}

/** Holds a directory in another one, and makes it if it is missing and may be made. */
async function holdIn(
  above: HeldDirectory,
  name: string,
  mayMake: boolean,
): Promise<HeldDirectory | undefined> {
  const path = above.at(name);
  const held = await holdOrNone(path);
  if (held !== undefined || !mayMake) return held;
  try {
    await mkdir(path);
  } catch (error) {
    // A link or a file, or another process was faster.
    if (hasCode(error, 'EEXIST')) return undefined;
    throw error;
  }
  const made = await holdOrNone(path);
  if (made !== undefined && process.getuid?.() === 0) {
    // Root's own directory would be of no use to the user.
    const { uid, gid } = await lstat(above.at('.'));
    await chown(made.at('.'), uid, gid);
  }
  return made;
}

async function holdOrNone(path: string): Promise<HeldDirectory | undefined> {
  try {
    return await holdDirectory(path, 'descriptor');
  } catch (error) {
    if (NONE.some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

const NONE = ['ENOENT', 'ENOTDIR', 'ELOOP'];
