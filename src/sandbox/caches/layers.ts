import { createHash } from 'node:crypto';
import { makeStateRoom } from '../../support/directories/state-directory.js';
import { identityOf } from '../pins/identity.js';

/**
 * Makes the directory for the layers of a workspace's caches. It is another one when another directory
 * has come to the workspace's path.
 *
 * @param workspace Real path.
 * @returns Undefined when the user has no place for it.
 */
export function layersOf(workspace: string): string | undefined {
  return makeStateRoom('caches', hashOf(`${workspace}\0${identityOf(workspace)}`));
}

/** Returns a short name for a text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
