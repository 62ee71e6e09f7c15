import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPrivate } from '../../support/directories/private-directory.js';
import { statePath } from '../../support/directories/state-directory.js';
import { hasCode } from '../../support/errors.js';

// What is held lies in a directory by its id. Here is read what tells of it for people; the rest is the engine's.

/** The name of a file by which what is held goes with its sandbox. */
export const DISCARDED = 'discard';

const PENDING_ID = /^[\da-f]{16}$/;

/** What is known of held changes. */
interface AboutPending {
  readonly id: string;
  /** When they were begun, in milliseconds since 1970. */
  readonly at: number;
  /** The first directory that commands could write to. */
  readonly workspace: string;
  /** Whether they go with the sandbox. */
  readonly isDiscarded: boolean;
}

/** Returns the directory with all that is held for this user; undefined: the user has no home. */
export function pendingDirectory(): string | undefined {
  const state = statePath();
  return state === undefined ? undefined : join(state, 'pending');
}

/**
 * Returns the ids of all that is held.
 *
 * @throws {Error} The directory belongs to another user, or is open to others; or the system's error.
 */
export async function pendingIn(directory: string): Promise<readonly string[]> {
  try {
    await checkPrivate(directory);
    return (await readdir(directory)).filter((name) => PENDING_ID.test(name));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Reads what is told of held changes; undefined: there are none of this id. */
export async function aboutPending(
  directory: string,
  id: unknown,
): Promise<AboutPending | undefined> {
  if (typeof id !== 'string' || !PENDING_ID.test(id)) return undefined;
  try {
    const text = await readFile(join(directory, id, 'about'), 'utf8');
    const [, at = '', , workspace = '/'] = text.split('\0');
    const isDiscarded = existsSync(join(directory, id, DISCARDED));
    return { id, at: Number(at), workspace, isDiscarded };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
