import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The controllers by which commands are limited. */
export type Controller = 'memory' | 'pids';

/** The place of the host's own group of a controller. */
export interface OwnGroup {
  readonly version: 1 | 2;
  readonly path: string;
  /** The directory where the hierarchy is mounted; directories above it are no groups. */
  readonly top: string;
}

/** Finds the host's own group of a controller; undefined: no group of this controller is mounted. */
export async function findOwnGroup(controller: Controller): Promise<OwnGroup | undefined> {
  const [groups, mounts] = await Promise.all([
    readFile('/proc/self/cgroup', 'utf8').catch(() => ''),
    readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
  ]);
  return ownGroup(controller, groups, mounts);
}

/**
 * Finds the host's own group of a controller in the content of two files.
 *
 * @param groups The content of `/proc/self/cgroup`.
 * @param mounts The content of `/proc/self/mountinfo`.
 */
export function ownGroup(
  controller: Controller,
  groups: string,
  mounts: string,
): OwnGroup | undefined {
  const lines = groups.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? []);
  const first = lines.find(([, names]) => names?.split(',').includes(controller));
  const [, , path] = first ?? lines.find(([, names]) => names === '') ?? [];
  if (path === undefined) return undefined;
  const isMatch = ({ kind, options }: Mount): boolean =>
    first ? kind === 'cgroup' && options.includes(controller) : kind === 'cgroup2';
  const mount = mounts.split('\n').map(readMount).find(isMatch);
  if (mount === undefined) return undefined;
  const version = first ? 1 : 2;
  return { version, path: join(mount.at, below(path, mount.root)), top: mount.at };
}

interface Mount {
  readonly root: string;
  readonly at: string;
  readonly kind: string;
  readonly options: readonly string[];
}

/** Reads a line such as `35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`. */
function readMount(line: string): Mount {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root = '/', at = '/'] = before.split(' ');
  const [kind = '', , options = ''] = after.split(' ');
  return { root, at, kind, options: options.split(',') };
}

/** Makes a path relative to the mount's root: in a container that is the container's own group. */
function below(path: string, root: string): string {
  const isBelow = root !== '/' && (path === root || path.startsWith(`${root}/`));
  return isBelow ? path.slice(root.length) : path;
}
