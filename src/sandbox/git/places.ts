import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isAmong } from '../paths.js';
import { readGitConfig } from './config.js';
import { obeyedElsewhere } from './elsewhere.js';
import { read, real } from './files.js';

/** The paths that git uses for a directory. */
export interface GitPlaces {
  /** Git's own directories, by real paths. A commit writes there. */
  readonly directories: readonly string[];
  /** Other paths that git obeys: a `.git` file, and hooks and configurations that a configuration names. */
  readonly obeyed: readonly string[];
}

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
  const found = locate(workspace);
  return found === undefined ? NONE : placesOf(found);
}

/** Returns the directories of {@link gitPlaces} alone, which are found without reading configurations. */
export function gitDirectories(workspace: string): readonly string[] {
  return locate(workspace)?.directories ?? [];
}

/** Git's directories, and where their `.git` is. */
interface LocatedGit {
  readonly directories: readonly string[];
  readonly worktree: string;
  /** The `.git` that is a file. */
  readonly files: readonly string[];
}

function locate(workspace: string): LocatedGit | undefined {
  for (let directory = workspace; ; directory = dirname(directory)) {
    const file = join(directory, '.git');
    const found = look(file);
    if (found?.isFile()) {
      const named = namedBy(file);
      const all = named === undefined ? within(file) : [named];
      return all.length === 0
        ? undefined
        : { directories: all, worktree: directory, files: [file] };
    }
    const all = within(file);
    if (all.length > 0) return { directories: all, worktree: directory, files: [] };
    if (found !== undefined || directory === dirname(directory)) return undefined;
  }
}

/** Finds git's paths in a writable directory that is no workspace. */
export function gitPlacesWithin(directory: string): GitPlaces {
  const file = join(directory, '.git');
  const directories = within(file);
  if (directories.length === 0) return NONE;
  const files = look(file)?.isFile() ? [file] : [];
  return placesOf({ directories, worktree: directory, files });
}

function placesOf({ directories, worktree, files }: LocatedGit): GitPlaces {
  const elsewhere = directories.flatMap((directory) => obeyedElsewhere(directory, worktree));
  return { directories, obeyed: [...new Set([...files, ...elsewhere])] };
}

/**
 * Returns git's directories for a `.git` that is one, or a file or a link that leads to one beside or below it:
 * whoever has made it, to keep what git obeys there widens nothing. Empty: there are none.
 */
function within(path: string): readonly string[] {
  const found = look(path);
  if (found?.isDirectory()) return [path];
  const own = found?.isFile() ? placeIn(path) : real(path);
  const top = dirname(path);
  const isIn = (place: string) => place !== top && isAmong(place, [top]) && isRepository(place);
  if (own === undefined || !isIn(own)) return [];
  const named = read(join(own, 'commondir'));
  const common = named === undefined ? undefined : real(resolve(own, named));
  if (common === undefined || !isIn(common)) return [own];
  return isAmong(own, [common]) ? [common] : [own, common];
}

function isRepository(directory: string): boolean {
  return look(join(directory, 'HEAD')) !== undefined;
}

/** Returns the directory that a `.git` file names. */
function placeIn(file: string): string | undefined {
  const path = read(file)?.match(/^gitdir: (.+)$/m)?.[1];
  return path === undefined ? undefined : real(resolve(dirname(file), path));
}

/**
 * Returns the directory that a `.git` file names and that names the file in turn: a worktree's or a
 * submodule's.
 */
function namedBy(file: string): string | undefined {
  const own = placeIn(file);
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
