import { readFile } from 'node:fs/promises';

/** The numbers of a process in its own PID namespace. */
export interface InsideNumbers {
  readonly pid: number;
  readonly processGroup: number;
}

/**
 * Returns the numbers of a process in its innermost PID namespace; undefined when the process is gone or
 * not visible.
 */
export async function numbersInside(pid: number): Promise<InsideNumbers | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const last = (name: string): number =>
    Number(new RegExp(`^${name}:.*\\s(\\d+)$`, 'm').exec(status)?.[1] ?? 0);
  const numbers = { pid: last('NSpid'), processGroup: last('NSpgid') };
  return numbers.pid > 0 && numbers.processGroup > 0 ? numbers : undefined;
}
