import { access, constants, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../support/errors.js';
import { type Controller, findOwnGroup, type OwnGroup } from './hierarchies.js';
import { newName, sweepLeftovers } from './leftovers.js';

/** A control group of a command. */
export interface Group {
  readonly version: 1 | 2;
  /** The group's directory. */
  readonly path: string;
}

/**
 * Makes a group with this limit, below the host's own group or beside it.
 *
 * @param made Groups that the command has already; in version 2 one group is for all limits.
 * @throws Error The group can't be made; the message says why.
 */
export async function makeGroup(
  controller: Controller,
  limit: number,
  made: readonly Group[],
): Promise<Group> {
  const own = await findOwnGroup(controller);
  if (own === undefined) throw new Error('no control group with its controller is mounted');
  const shared = made.find(({ version }) => version === 2);
  if (own.version === 2 && shared !== undefined) {
    await setLimit(controller, shared, limit);
    return shared;
  }
  let reason: unknown;
  for (const findPlace of PLACES[own.version]) {
    try {
      return await makeIn(await findPlace(own), controller, limit, own.version);
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}

/** The places where a group may be made, by version, in the order in which they are tried. */
const PLACES: Readonly<Record<1 | 2, readonly ((own: OwnGroup) => Promise<string> | string)[]>> = {
  1: [({ path }) => path],
  2: [({ path }) => path, besideHost, inEmptiedGroup],
};

/**
 * Returns the parent of the host's group. In version 2, a group that has processes can't give controllers
 * to groups below it, but its parent can. A group beside the host's is not under the host's limit, so this
 * is allowed only if the host has no limit of memory.
 */
async function besideHost({ path, top }: OwnGroup): Promise<string> {
  if (path === top) throw new Error('the control group of the host is the topmost one');
  const place = dirname(path);
  const own = await readFile(join(path, 'memory.max'), 'utf8').catch(() => 'max');
  if (own.trim() !== 'max') throw new Error('commands would escape the limit of the host');
  // Moving a process takes the right to write this file in the common ancestor of both groups.
  await access(join(place, 'cgroup.procs'), constants.W_OK);
  return place;
}

const CONTROLLERS: readonly string[] = ['memory', 'pids'] satisfies Controller[];

/** The name of the group into which hosts move to make room for the groups of their commands. */
const HOSTS = 'forkline-host';

/** Moves all processes of the host's group into a group below it. Returns the path of the host's group. */
async function inEmptiedGroup({ path }: OwnGroup): Promise<string> {
  const known = await readFile(join(path, 'cgroup.controllers'), 'utf8');
  const enabled = CONTROLLERS.filter((name) => known.trim().split(' ').includes(name));
  if (enabled.length === 0) throw new Error(`no controller is delegated to ${path}`);
  const control = join(path, 'cgroup.subtree_control');
  const order = enabled.map((name) => `+${name}`).join(' ');
  await access(control, constants.W_OK);
  // A process may be forked into the group meanwhile; then the write fails with EBUSY.
  const MOST_TRIES = 5;
  for (let tries = 0; ; tries += 1) {
    try {
      await writeFile(control, order, { flag: 'r+' });
      return path;
    } catch (error) {
      if (tries === MOST_TRIES || !hasCode(error, 'EBUSY')) throw error;
      await moveAll(path, join(path, HOSTS));
    }
  }
}

async function moveAll(from: string, to: string): Promise<void> {
  await mkdir(to).catch((error) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  const pids = await readFile(join(from, 'cgroup.procs'), 'utf8');
  for (const pid of pids.split('\n').filter((line) => line !== '')) {
    await writeFile(join(to, 'cgroup.procs'), pid, { flag: 'r+' }).catch((error) => {
      if (!hasCode(error, 'ESRCH')) throw error;
    });
  }
}

async function makeIn(
  place: string,
  controller: Controller,
  limit: number,
  version: 1 | 2,
): Promise<Group> {
  const group = { version, path: await makeDirectory(place) };
  try {
    await setLimit(controller, group, limit);
  } catch (error) {
    await rmdir(group.path).catch(() => {});
    throw error;
  }
  sweepLeftovers(place);
  return group;
}

/** Makes a directory with a new name. Other threads of this process use the same names. */
async function makeDirectory(place: string): Promise<string> {
  for (;;) {
    const path = join(place, await newName());
    try {
      await mkdir(path);
      return path;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

const FILES = {
  memory: { 1: 'memory.limit_in_bytes', 2: 'memory.max' },
  pids: { 1: 'pids.max', 2: 'pids.max' },
} as const;

async function setLimit(controller: Controller, group: Group, limit: number): Promise<void> {
  const { version, path } = group;
  const exists = await writeIfExists(group, FILES[controller][version], limit);
  if (!exists) throw new Error(`the controller '${controller}' is not enabled in ${dirname(path)}`);
  if (controller !== 'memory') return;
  // Otherwise memory over the limit is only moved to swap. Without swap accounting, these files are missing.
  if (version === 1) await writeIfExists(group, 'memory.memsw.limit_in_bytes', limit);
  else await writeIfExists(group, 'memory.swap.max', 0);
  // If memory runs out, all processes of the command are killed together. (Linux 4.19.)
  if (version === 2) await writeIfExists(group, 'memory.oom.group', 1);
}

async function writeIfExists({ path }: Group, file: string, value: number): Promise<boolean> {
  try {
    await writeFile(join(path, file), String(value), { flag: 'r+' });
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
