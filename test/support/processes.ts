import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process as `/proc` shows it. */
export interface ProcessEntry {
  readonly pid: number;
  /** `Z` is a zombie: it has ended, and its parent has not asked how. */
  readonly state: string;
  readonly parent: number;
}

/** Whether a process runs. A zombie does not: who reaps it, and when, is its parent's affair. */
export function lives(pid: number): boolean {
  return !['Z', 'X', undefined].includes(entryOf(pid)?.state);
}

/** The process that waits for it; 0 when it is gone. */
export function parentOf(pid: number): number {
  return entryOf(pid)?.parent ?? 0;
}

export function isGone(pid: number): boolean {
  return !lives(pid);
}

/** Processes that run and were started, however indirectly, by a forkline host. */
export function processesOf(host: number = process.pid): string[] {
  const mark = `FORKLINE_MARK=${host}-`;
  return livingProcesses()
    .filter((pid) => readProc(pid, 'environ').some((entry) => entry.startsWith(mark)))
    .map((pid) => `${pid} ${commandLineOf(pid)}`);
}

/** Processes that run with exactly these arguments. */
export function processesRunning(commandLine: string): number[] {
  return livingProcesses().filter((pid) => commandLineOf(pid) === commandLine);
}

/** Empty: there is no such process. */
export function commandLineOf(pid: number): string {
  return readProc(pid, 'cmdline').join(' ');
}

/** Its children, zombies too. */
export function childrenOf(parent: number): number[] {
  return allProcesses()
    .filter((entry) => entry.parent === parent)
    .map(({ pid }) => pid);
}

/** The process that runs the commands of a host; 0 when there is none. */
export function keeperOf(host: number = process.pid): number {
  const isKeeper = (pid: number) => readProc(pid, 'comm')[0]?.trim() === 'forkline-keeper';
  return childrenOf(host).find(isKeeper) ?? 0;
}

export function zombiesOf(parent: number = process.pid): number[] {
  return allProcesses()
    .filter((entry) => entry.parent === parent && entry.state === 'Z')
    .map(({ pid }) => pid);
}

export function openDescriptors(pid: number | 'self' = 'self'): string[] {
  return readdirSync(`/proc/${pid}/fd`);
}

/** Tries until it no longer throws: for what the kernel or another process does in its own time. */
export async function eventually<T>(check: () => T | Promise<T>, patienceMs = 10_000): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(20);
    }
  }
}

function allProcesses(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => entryOf(Number(pid)) ?? []);
}

function livingProcesses(): number[] {
  return allProcesses()
    .filter(({ state }) => state !== 'Z' && state !== 'X')
    .map(({ pid }) => pid);
}

function entryOf(pid: number): ProcessEntry | undefined {
  const [stat = ''] = readProc(pid, 'stat');
  // The name before these fields is in parentheses, and may have some itself.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state ? { pid, state, parent: Number(parent) } : undefined;
}

/** The NUL-separated parts of a file; none when the process has gone, or is another user's. */
function readProc(pid: number, file: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}
