import { hooks } from './hooks.js';
import { lfs } from './lfs.js';
import { monorepo } from './monorepo.js';
import { nested } from './nested.js';
import { plain } from './plain.js';
import type { Repository } from './repository.js';
import { settings } from './settings.js';
import { shallow } from './shallow.js';
import { sparse } from './sparse.js';
import { submodules } from './submodules.js';
import { worktree } from './worktree.js';

/** The ten repositories, with thirty commands for each. */
export const repositories: readonly Repository[] = [
  plain,
  worktree,
  submodules,
  sparse,
  lfs,
  settings,
  hooks,
  nested,
  shallow,
  monorepo,
];
