import { readFile } from 'node:fs/promises';
import type { KeeperState, ProcessName } from './keeper/keeper-state.js';

/**
 * Whether a process that was seen before still exists: the same one, not another with its number or of
 * another boot.
 */
type Presence = 'there' | 'gone' | 'unknown';

/** Returns whether the machine was rebooted since. */
export async function isOfAnotherBoot({ boot }: KeeperState): Promise<boolean> {
  const now = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
  return boot !== '' && now !== '' && boot !== now.trim();
}

/** Looks for a process of a command by its identity. */
export async function lookFor(state: KeeperState, process: ProcessName): Promise<Presence> {
  if (await isOfAnotherBoot(state)) return 'gone';
  if (process.started === 0 || !(await isProcShown())) return 'unknown';
  const started = await startOf(process.pid);
  return started === process.started ? 'there' : 'gone';
}

/** Returns whether `/proc` shows processes, with the same numbers as in this process. */
async function isProcShown(): Promise<boolean> {
  const own = await readFile('/proc/self/stat', 'latin1').catch(() => '');
  return Number.parseInt(own, 10) === process.pid;
}

/**
 * Returns the start time in clock ticks since boot; undefined when there is no such process, or only a
 * zombie.
 */
async function startOf(pid: number): Promise<number | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The name before it may itself have blanks and parentheses.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  return /^[ZX]/i.test(state) ? undefined : Number(fields[19]);
}
