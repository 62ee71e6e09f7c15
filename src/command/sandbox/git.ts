import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Where git keeps what belongs to a directory. */
interface GitDirectories {
  /** Written to by a commit. */
  readonly writable: readonly string[];
  /** Of those, what git would run or obey. */
  readonly kept: readonly string[];
}

const NONE: GitDirectories = { writable: [], kept: [] };
/** What git obeys, in a directory of its. */
const OBEYED = ['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'];

/**
 * The git directory of a directory or of the nearest above it, and the common one if it is a
 * worktree's.
 */
export function gitDirectories(directory: string): GitDirectories {
  const place = findGit(directory);
  if (place === undefined) return NONE;
  if (place.isDirectory) return of([place.path]);
  const own = linkedDirectory(place.path);
  return own === undefined ? NONE : of(own, [place.path]);
}

function of(directories: readonly string[], files: readonly string[] = []): GitDirectories {
  const obeyed = directories.flatMap((path) => OBEYED.map((name) => join(path, name)));
  const hooks = directories.flatMap((path) => hooksOf(path) ?? []);
  return { writable: directories, kept: [...files, ...obeyed, ...hooks] };
}

function findGit(from: string): { path: string; isDirectory: boolean } | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    const path = join(directory, '.git');
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return { path, isDirectory: found.isDirectory() };
    if (directory === dirname(directory)) return undefined;
  }
}

/**
 * What a `.git` file names. A command may have written it to have another directory opened: so that
 * directory has to know the file, as it does that of a worktree or a submodule.
 */
function linkedDirectory(file: string): readonly string[] | undefined {
  const path = read(file)?.match(/^gitdir: (.+)$/m)?.[1];
  const own = path === undefined ? undefined : real(resolve(dirname(file), path));
  if (own === undefined) return undefined;
  const back = read(join(own, 'gitdir'));
  if (back !== undefined) {
    const common = read(join(own, 'commondir'));
    const isKnown =
      real(resolve(own, back)) === real(file) && basename(dirname(own)) === 'worktrees';
    return isKnown && common !== undefined ? [own, resolve(own, common)] : undefined;
  }
  const worktree = read(join(own, 'config'))?.match(/^\s*worktree\s*=\s*(.+)$/m)?.[1];
  const isKnown = worktree !== undefined && real(resolve(own, worktree)) === real(dirname(file));
  return isKnown ? [own] : undefined;
}

/** Where its configuration says that hooks are. */
function hooksOf(directory: string): string | undefined {
  const path = read(join(directory, 'config'))?.match(
    /^\s*hookspath\s*=\s*"?([^"\n]+?)"?\s*$/im,
  )?.[1];
  return path === undefined ? undefined : resolve(dirname(directory), path);
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
