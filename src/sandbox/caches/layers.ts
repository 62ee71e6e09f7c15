import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { statePath } from '../../support/directories/state-directory.js';
import { identityOf } from '../pins/identity.js';

/**
 * Makes the directory for the layers of a workspace's caches. It is another one when another directory
 * has come to the workspace's path.
 *
 * @param workspace Real path.
 * @returns Undefined when the user has no place for it.
 */
export function layersOf(workspace: string): string | undefined {
  const state = statePath();
  if (state === undefined) return undefined;
  const caches = join(state, 'caches');
  const path = join(caches, hashOf(`${workspace}\0${identityOf(workspace)}`));
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const isOwn = [state, caches, path].every((each) => {
      const found = lstatSync(each);
      return found.isDirectory() && found.uid === process.geteuid?.();
    });
    return isOwn ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a short name for a text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
