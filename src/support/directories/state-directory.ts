import { constants, existsSync, lstatSync, realpathSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { hasCode, messageOf } from '../errors.js';
import { homeDirectory } from './home.js';
import { makeDirectoriesSync } from './make-directories.js';
import { checkPrivate, makePrivate } from './private-directory.js';

/** A directory that can be used, or why none can. */
type StateDirectory =
  | { readonly path: string; readonly reason?: undefined }
  | { readonly path?: undefined; readonly reason: string };

/**
 * Returns the path of the user's directory for what outlives hosts and is found whatever `TMPDIR` says: `forkline`
 * in `XDG_STATE_HOME`, by default in `~/.local/state`. Undefined: the user has no home.
 */
export function statePath(): string | undefined {
  const given = stateHome();
  if (given !== undefined) return join(normalize(given), 'forkline');
  const home = homeDirectory();
  // A user without a home has `/` for one.
  const isNone = home === undefined || !isAbsolute(home) || normalize(home) === '/';
  return isNone ? undefined : join(home, '.local', 'state', 'forkline');
}

/**
 * Makes that directory with mode 0700, unless it exists. A home is not made, and no directory of another user
 * is used, nor one on a network file system, where sockets and locks do not work, and process ids are not those
 * of this machine.
 */
export async function makeStateDirectory(): Promise<StateDirectory> {
  const path = statePath();
  if (path === undefined) return { reason: 'the user has no home directory' };
  try {
    const reason = await whyUnfit(path);
    if (reason !== undefined) return { reason };
    await makePrivate(path);
    return { path };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

/** Returns that directory if it exists and can be used; nothing is made. */
export async function findStateDirectory(): Promise<StateDirectory> {
  const path = statePath();
  if (path === undefined) return { reason: 'the user has no home directory' };
  try {
    await checkPrivate(path);
    return { path };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

/** Tells whether that directory can be used, or made; makes nothing. */
export async function lookAtStateDirectory(): Promise<StateDirectory> {
  const path = statePath();
  if (path === undefined) return { reason: 'the user has no home directory' };
  try {
    const reason = await whyUnfit(path);
    if (reason !== undefined) return { reason };
    const existing = await nearestExisting(path);
    if (existing === path) await checkPrivate(path);
    else await access(existing, constants.W_OK | constants.X_OK);
    return { path };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

/**
 * Makes that directory where commands in a sandbox could otherwise make one of their own in its place, for hosts
 * to find. Does nothing where that is not possible: there commands can't either.
 */
export function claimStateDirectory(path: string): void {
  try {
    makeDirectoriesSync(path, 0o700);
  } catch {
    // The next step is to hide it, if it is there.
  }
}

/**
 * Makes a private directory in that one, unless it exists; a home is not made.
 *
 * @param names The path from there, a name for each directory.
 * @returns Its real path. Undefined: there is no home, or no directory of this user's own can be had.
 */
export function makeStateRoom(...names: readonly string[]): string | undefined {
  const state = statePath();
  if (state === undefined) return undefined;
  const home = homeDirectory();
  if (stateHome() === undefined && (home === undefined || !existsSync(home))) return undefined;
  const path = join(state, ...names);
  const all = names.map((_, index) => join(state, ...names.slice(0, index + 1)));
  try {
    makeDirectoriesSync(path, 0o700);
    const isOwn = [state, ...all].every((each) => {
      const found = lstatSync(each);
      return found.isDirectory() && found.uid === process.geteuid?.();
    });
    const isPrivate = (lstatSync(path).mode & 0o077) === 0;
    return isOwn && isPrivate ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** The specification has relative paths ignored. */
function stateHome(): string | undefined {
  const given = process.env.XDG_STATE_HOME;
  return given !== undefined && isAbsolute(given) ? given : undefined;
}

async function whyUnfit(path: string): Promise<string | undefined> {
  const existing = await nearestExisting(path);
  const home = homeDirectory();
  const isBelowHome = stateHome() === undefined && home !== undefined;
  if (isBelowHome && existing.length < normalize(home).replace(/\/$/, '').length) {
    return `${home}: no such directory`;
  }
  const { uid } = await stat(existing);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) return `${existing} is user ${uid}'s`;
  const { type } = await statfs(existing);
  // Some systems have 32 bits for it, with a sign.
  const name = UNFIT.get(type >>> 0);
  return name === undefined ? undefined : `${existing} is on a ${name} file system`;
}

/** Returns the path, or the part of it that exists. */
async function nearestExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return nearestExisting(dirname(path));
  }
}

/** File systems of other machines, those that programs serve, and the kernel's, by their numbers in statfs(2). */
const UNFIT: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x564c, 'NCP'],
  [0x73757245, 'Coda'],
  [0x1021997, '9P'],
  [0xc36400, 'Ceph'],
  [0xbd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x1161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x65735546, 'FUSE'],
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
]);
