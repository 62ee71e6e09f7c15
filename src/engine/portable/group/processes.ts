import { execFile } from 'node:child_process';
import type { BackgroundProcess } from '../../outcome.js';

/** The longest wait for `ps`, in milliseconds. */
const PS_MS = 2000;
const PS_BYTES = 64 * 1024 * 1024;
const COLUMNS = ['pid=', 'ppid=', 'pgid=', 'stat=', 'lstart=', 'args='];
/** `-ww`: whole lines, on macOS too. */
const PS_ARGS = ['-A', '-ww', ...COLUMNS.flatMap((name) => ['-o', name])];

/** A process as `ps` lists it; not a zombie. */
export interface ListedProcess extends BackgroundProcess {
  readonly parent: number;
  /** Tells it from a later process with its number. */
  readonly startedAt: string;
}

/**
 * Returns the processes for which `isHead` is true, and all their descendants, wherever they went. A
 * process whose parent has ended is no longer a descendant.
 */
export function familyIn(
  listed: readonly ListedProcess[],
  isHead: (process: ListedProcess) => boolean,
): readonly ListedProcess[] {
  const family = new Set(listed.filter(isHead));
  const pids = new Set([...family].map(({ pid }) => pid));
  let before = -1;
  while (before < family.size) {
    before = family.size;
    for (const process of listed) {
      if (family.has(process) || !pids.has(process.parent)) continue;
      family.add(process);
      pids.add(process.pid);
    }
  }
  return [...family];
}

/** Lists all processes of this machine; returns undefined when there is no usable `ps`. */
export async function listProcesses(): Promise<readonly ListedProcess[] | undefined> {
  const options = { timeout: PS_MS, maxBuffer: PS_BYTES, env: { ...process.env, LC_ALL: 'C' } };
  const listed = new Promise<ListedProcess[] | undefined>((resolve) => {
    execFile('ps', PS_ARGS, options, (error, stdout) => {
      resolve(error === null ? stdout.split('\n').flatMap(parseLine) : undefined);
    });
  });
  // Node throws when no file descriptor is left.
  return listed.catch(() => undefined);
}

/** The time is five words. */
const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\S+) (.*)$/;

function parseLine(line: string): ListedProcess[] {
  const [, pid, parent, group, state = '', startedAt = '', command = ''] = LINE.exec(line) ?? [];
  if (pid === undefined || state.startsWith('Z')) return [];
  const numbers = { pid: Number(pid), parent: Number(parent), processGroup: Number(group) };
  return [{ ...numbers, startedAt, command: command.trim() }];
}
