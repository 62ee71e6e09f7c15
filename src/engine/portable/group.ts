import { execFile } from 'node:child_process';
import { hasCode } from '../../support/errors.js';
import type { BackgroundProcess } from '../outcome.js';

/** The longest that `ps` is waited for, in milliseconds. */
const PS_MS = 2000;
const PS_BYTES = 64 * 1024 * 1024;
/** `-ww`: whole lines, on macOS too. */
const PS_ARGS = [
  '-A',
  '-ww',
  ...['pid=', 'pgid=', 'stat=', 'args='].flatMap((name) => ['-o', name]),
];

/**
 * The process group of a command. Its number belongs to nobody else while anybody of it is there;
 * once it has been seen empty, it is never signalled again.
 */
export class ProcessGroup {
  readonly id: number;
  #isEmpty = false;

  constructor(id: number) {
    this.id = id;
  }

  /** Whether nobody of it is left. Zombies that nobody reaps count as somebody: see `members()`. */
  get isEmpty(): boolean {
    if (!this.#isEmpty) this.signal(0);
    return this.#isEmpty;
  }

  /** Signals all of it; false: nobody is left. */
  signal(signal: NodeJS.Signals | 0): boolean {
    if (this.#isEmpty) return false;
    try {
      process.kill(-this.id, signal);
      return true;
    } catch (error) {
      // EPERM says that somebody is there, and is another user's, or on macOS a zombie.
      if (!hasCode(error, 'ESRCH')) return hasCode(error, 'EPERM');
      this.#isEmpty = true;
      return false;
    }
  }

  /** Who of it runs, as `ps` tells; undefined: it does not. */
  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    if (this.isEmpty) return [];
    const listed = await listProcesses();
    const members = listed?.filter(({ processGroup }) => processGroup === this.id);
    if (members?.length === 0) this.#isEmpty = true;
    return members;
  }
}

function listProcesses(): Promise<readonly BackgroundProcess[] | undefined> {
  const options = { timeout: PS_MS, maxBuffer: PS_BYTES, env: { ...process.env, LC_ALL: 'C' } };
  const listed = new Promise<BackgroundProcess[] | undefined>((resolve) => {
    execFile('ps', PS_ARGS, options, (error, stdout) => {
      resolve(error === null ? stdout.split('\n').flatMap(parseLine) : undefined);
    });
  });
  // Node throws when there is no descriptor left.
  return listed.catch(() => undefined);
}

function parseLine(line: string): BackgroundProcess[] {
  const [, pid, processGroup, state = '', command = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
  if (pid === undefined || state.startsWith('Z')) return [];
  return [{ pid: Number(pid), processGroup: Number(processGroup), command }];
}
