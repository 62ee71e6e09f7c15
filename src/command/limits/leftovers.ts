import { readdir, readFile, readlink, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../../support/directories/abandoned.js';

/** Who makes groups: in their names, so that those whose maker is gone are known. */
interface Maker {
  /** The PID namespace that the number is of. */
  readonly space: string;
  readonly pid: number;
  /** In clock ticks since boot; a number is another's after it. */
  readonly started: string;
}

const NAME = /^forkline-(?<pid>\d+)-(?<started>\d+)-(?<space>\d+)-\d+$/;

let ownMaker: Promise<Maker> | undefined;
let count = 0;

/** A name for a group of this process that it has not given before in this thread. */
export async function newName(): Promise<string> {
  ownMaker ??= findOwnMaker();
  const { pid, started, space } = await ownMaker;
  count += 1;
  return `forkline-${pid}-${started}-${space}-${count}`;
}

async function findOwnMaker(): Promise<Maker> {
  const [stat, space] = await Promise.all([
    readFile('/proc/self/stat', 'utf8'),
    readlink('/proc/self/ns/pid'),
  ]);
  return { pid: process.pid, started: startIn(stat), space: space.replace(/\D/g, '') };
}

/** Field 22; the second one is a name in parentheses, with anything in it. */
function startIn(stat: string): string {
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return rest[19] ?? '';
}

const swept = new Set<string>();

/** Removes, once for each place, what hosts have left there that were killed. Nobody waits for it. */
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
  // What is mounted there may be the list of another PID namespace.
  if (own === undefined || seenAs !== String(own.pid)) return;
  for (const name of names) {
    const { pid, started = '', space = '' } = NAME.exec(name)?.groups ?? {};
    if (space !== own.space) continue;
    // One in which somebody is stays.
    if (await isGone(Number(pid), started)) await rmdir(join(place, name)).catch(() => {});
  }
}

/** Whether it is sure that the process with this number is another one, or none. */
async function isGone(pid: number, started: string): Promise<boolean> {
  if (!isAlive(pid)) return true;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && startIn(stat) !== started;
}
