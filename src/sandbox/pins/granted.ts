import { statSync } from 'node:fs';
import { noteReachable, reachableDirectories } from '../../support/directories/reachable.js';
import { InputError } from '../../support/errors.js';
import { type GitPlaces, gitPlaces, gitPlacesWithin } from '../git/places.js';
import { isAmong } from '../paths.js';
import { follow, followTrusted } from './follow.js';
import { identityOf } from './identity.js';

/** The paths to which a policy gives rights, absolute and as they are written. */
export interface RequestedRights {
  /** Undefined: no workspace is writable. */
  readonly workspace: string | undefined;
  readonly temporary: readonly string[];
  readonly allowWrite: readonly string[];
  readonly allowRead: readonly string[];
  readonly sockets: readonly string[];
  /** Whether the sandbox protects git's own directories. */
  readonly hasGit: boolean;
}

/** The real paths that get rights. */
export interface GrantedRights {
  /** Writable paths, git's directories elsewhere included. */
  readonly writable: readonly string[];
  readonly shown: readonly string[];
  readonly sockets: readonly string[];
  readonly git: GitPlaces;
  /** The request for the next time, with the real paths of this one. */
  readonly again: RequestedRights;
}

/** Git directories outside of a workspace, as they were found at first; later ones do not count. */
const gitAtFirst = new Map<string, GitPlaces>();
const MOST_WORKSPACES = 1024;

/**
 * Decides which paths get the rights of a policy. Later calls use `again` of the first call: a path that
 * leads elsewhere by then gets no rights there.
 *
 * @throws {InputError} The workspace is reached by a link that a command can have made.
 */
export function grant(asked: RequestedRights): GrantedRights {
  const known = new Set([...reachableDirectories(), ...rootsOf(asked)]);
  const workspace = asked.workspace && workspaceOf(asked.workspace, known);
  const temporary = realOf(asked.temporary, known);
  const allowWrite = realOf(asked.allowWrite, known);
  const roots = [workspace ?? [], temporary, allowWrite].flat();
  for (const root of roots) known.add(root);
  const found = asked.hasGit ? gitOf(workspace, allowWrite) : { directories: [], obeyed: [] };
  const writable = [...new Set([...roots, ...found.directories])];
  // A file that the policy itself names, such as `~/.gitconfig`, is given.
  const isGiven = (real: string) =>
    allowWrite.includes(real) && statSync(real, { throwIfNoEntry: false })?.isFile() === true;
  const isWritten = (path: string) => {
    const real = follow(path)?.real ?? path;
    return isAmong(real, writable) && !isGiven(real);
  };
  const git = { ...found, obeyed: found.obeyed.filter(isWritten) };
  noteReachable(writable);
  const shown = realOf(asked.allowRead, known);
  const sockets = realOf(asked.sockets, known);
  const again = { ...asked, workspace, temporary, allowWrite, allowRead: shown, sockets };
  return { writable, git, shown, sockets, again };
}

/** Returns the writable paths that are known before links in them are judged. */
function rootsOf({ workspace, temporary, allowWrite }: RequestedRights): readonly string[] {
  const paths = [...(workspace === undefined ? [] : [workspace]), ...temporary, ...allowWrite];
  return paths.filter((path) => follow(path)?.links.length === 0);
}

function workspaceOf(path: string, known: ReadonlySet<string>): string {
  const found = followTrusted(path, known);
  if (found !== undefined) return found.real;
  throw new InputError(
    `sandbox.workspace: expected a directory, got '${path}', which leads through a link that a command in a sandbox may have made`,
  );
}

function realOf(paths: readonly string[], known: ReadonlySet<string>): string[] {
  const followed = paths.map((path) => followTrusted(path, known));
  return followed.filter((found) => found !== undefined).map(({ real }) => real);
}

/** Git directories in the workspace count as they are now, since they are writable anyway. */
function gitOf(workspace: string | undefined, allowed: readonly string[]): GitPlaces {
  const all = allowed.map(gitPlacesWithin);
  if (workspace !== undefined) {
    const now = gitPlaces(workspace);
    const key = `${workspace}\0${identityOf(workspace)}`;
    const first = gitAtFirst.get(key) ?? now;
    gitAtFirst.delete(key);
    gitAtFirst.set(key, first);
    forgetOldest(gitAtFirst, MOST_WORKSPACES);
    const isIn = (path: string) => path === workspace || path.startsWith(`${workspace}/`);
    const directories = [
      ...now.directories.filter(isIn),
      ...first.directories.filter((path) => !isIn(path)),
    ];
    all.push({ directories, obeyed: [...now.obeyed, ...first.obeyed] });
  }
  return {
    directories: [...new Set(all.flatMap(({ directories }) => directories))],
    obeyed: [...new Set(all.flatMap(({ obeyed }) => obeyed))],
  };
}

function forgetOldest(all: Map<string, unknown>, most: number): void {
  for (const key of all.keys()) {
    if (all.size <= most) return;
    all.delete(key);
  }
}
