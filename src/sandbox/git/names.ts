import { join } from 'node:path';

/**
 * The names that git obeys in its own directory, whether they exist or not. The keeper has the same list:
 * see native/keeper/src/sandbox/warden/gate/obeyed.rs.
 */
const OBEYED_BY_GIT = [
  'hooks',
  'remotes',
  'branches',
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'info/attributes',
  'objects/info/alternates',
] as const;

/** Returns the paths that git obeys in a directory of its own. */
export function obeyedIn(directory: string): readonly string[] {
  return OBEYED_BY_GIT.map((name) => join(directory, name));
}
