import { lstatSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { resolveFromHome } from '../../support/directories/home.js';
import { readGitConfig } from './config.js';

/** The paths that git uses for a directory. */
export interface GitPlaces {
  /** Git's own directories, by real paths. A commit writes there. */
  readonly directories: readonly string[];
  /** Other paths that git obeys: a `.git` file, and hooks and configurations that its configuration names. */
  readonly obeyed: readonly string[];
}

/**
 * The names that git obeys in its own directory, whether they exist or not. The keeper has the same list:
 * see native/keeper/src/sandbox/warden/gate/obeyed.rs.
 */
export const OBEYED_BY_GIT = [
  'hooks',
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'info/attributes',
  'objects/info/alternates',
] as const;

const NONE: GitPlaces = { directories: [], obeyed: [] };

/**
 * Finds the git directory of a workspace, or of the nearest directory above it; for a worktree, the
 * common directory of its repository.
 *
 * Commands may have made anything in the workspace: a file there that names a directory outside of it
 * counts only if that directory, which commands cannot write, names the workspace in turn.
 *
 * @param workspace Real path of the workspace.
 */
export function gitPlaces(workspace: string): GitPlaces {
  for (let directory = workspace; ; directory = dirname(directory)) {
    const path = join(directory, '.git');
    const found = look(path);
    if (found?.isDirectory()) return placesOf(path);
    if (found?.isFile()) {
      const named = namedBy(path);
      return named === undefined ? NONE : placesOf(named, [path]);
    }
    // Git follows a link, but it cannot be known which process has made it.
    if (found !== undefined || directory === dirname(directory)) return NONE;
  }
}

/** Finds git's paths in a writable directory that is no workspace. */
export function gitPlacesWithin(directory: string): GitPlaces {
  const path = join(directory, '.git');
  return look(path)?.isDirectory() ? placesOf(path) : NONE;
}

function placesOf(directory: string, obeyed: readonly string[] = []): GitPlaces {
  return { directories: [directory], obeyed: [...obeyed, ...configuredBy(directory)] };
}

/** Returns hooks and configurations elsewhere that a directory's configuration tells git to obey. */
function configuredBy(directory: string): readonly string[] {
  const worktree = dirname(directory);
  const found: string[] = [];
  for (const name of ['config', 'config.worktree']) {
    const path = join(directory, name);
    for (const [key, values] of readGitConfig(path)) {
      const isIncluded = key === 'include.path' || /^includeif\..*\.path$/s.test(key);
      const isObeyed = isIncluded || OBEYED_KEYS.has(key);
      // Hooks are looked up from the directory in which they run.
      const base = isIncluded ? directory : worktree;
      if (!isObeyed) continue;
      for (const value of values.filter(Boolean)) {
        // Without a home directory, git itself fails at a path that begins with `~`.
        const named = resolveFromHome(base, value);
        if (named !== undefined) found.push(named);
      }
    }
  }
  return found;
}

const OBEYED_KEYS = new Set(['core.hookspath', 'core.attributesfile', 'core.fsmonitor']);

/**
 * Returns the directory that a `.git` file names and that names the file in turn: a worktree's or a
 * submodule's.
 */
function namedBy(file: string): string | undefined {
  const path = read(file)?.match(/^gitdir: (.+)$/m)?.[1];
  const own = path === undefined ? undefined : real(resolve(dirname(file), path));
  if (own === undefined) return undefined;
  return commonOf(own, file) ?? submoduleOf(own, file);
}

/** A worktree counts only if the common directory lists it. */
function commonOf(own: string, file: string): string | undefined {
  const back = read(join(own, 'gitdir'));
  const common = read(join(own, 'commondir'));
  if (back === undefined || common === undefined) return undefined;
  const place = real(resolve(own, common));
  const isListed = place !== undefined && own === join(place, 'worktrees', basename(own));
  return isListed && real(resolve(own, back)) === file ? place : undefined;
}

/** A submodule's git directory names its working tree. */
function submoduleOf(own: string, file: string): string | undefined {
  const [worktree, ...more] = readGitConfig(join(own, 'config')).get('core.worktree') ?? [];
  if (worktree === undefined || more.length > 0) return undefined;
  return real(resolve(own, worktree)) === dirname(file) ? own : undefined;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
