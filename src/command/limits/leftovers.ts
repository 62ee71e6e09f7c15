import { readdir, readFile, readlink, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../../support/directories/abandoned.js';

/** The process that made a group. The group's name has it, so that groups of ended hosts can be found. */
interface Maker {
  /** The PID namespace of `pid`. */
  readonly namespace: string;
  readonly pid: number;
  /** The start time in clock ticks since boot: a later process with the same `pid` has another one. */
  readonly started: string;
}

const NAME = /^forkline-(?<pid>\d+)-(?<started>\d+)-(?<namespace>\d+)-\d+$/;

let ownMaker: Promise<Maker> | undefined;
let count = 0;

/** Returns a name for a group of this process, new in this thread. */
export async function newName(): Promise<string> {
  ownMaker ??= findOwnMaker();
  const { pid, started, namespace } = await ownMaker;
  count += 1;
  return `forkline-${pid}-${started}-${namespace}-${count}`;
}

async function findOwnMaker(): Promise<Maker> {
  const [stat, namespace] = await Promise.all([
    readFile('/proc/self/stat', 'utf8'),
    readlink('/proc/self/ns/pid'),
  ]);
  return { pid: process.pid, started: startIn(stat), namespace: namespace.replace(/\D/g, '') };
}

/** Reads the start time, field 22. Field 2 is a name in parentheses, which may contain any characters. */
function startIn(stat: string): string {
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return rest[19] ?? '';
}

const swept = new Set<string>();

/** Removes the groups that killed hosts have left in a directory, once for each directory. Does not wait. */
export function sweepLeftovers(place: string): void {
  if (swept.has(place)) return;
  swept.add(place);
  void removeLeftovers(place).catch(() => {});
}

async function removeLeftovers(place: string): Promise<void> {
  const [names, own, seenAs] = await Promise.all([
    readdir(place),
    ownMaker,
    readlink('/proc/self').catch(() => ''),
  ]);
  // The mounted /proc may belong to another PID namespace.
  if (own === undefined || seenAs !== String(own.pid)) return;
  for (const name of names) {
    const { pid, started = '', namespace = '' } = NAME.exec(name)?.groups ?? {};
    if (namespace !== own.namespace) continue;
    // rmdir fails for a group that has processes, so such a group stays.
    if (await isGone(Number(pid), started)) await rmdir(join(place, name)).catch(() => {});
  }
}

/** Returns whether the process that started then is certainly gone; another one may have its number now. */
async function isGone(pid: number, started: string): Promise<boolean> {
  if (!isAlive(pid)) return true;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && startIn(stat) !== started;
}
