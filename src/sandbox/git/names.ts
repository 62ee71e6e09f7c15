/**
 * The names that git obeys in its own directory, whether they exist or not. The keeper has the same list:
 * see native/keeper/src/sandbox/warden/gate/obeyed.rs.
 */
export const OBEYED_BY_GIT = [
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
