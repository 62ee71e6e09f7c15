import { readFile } from 'node:fs/promises';

/** What a process is called in a PID namespace of its own. */
export interface InsideNumbers {
  readonly pid: number;
  readonly processGroup: number;
}

/** The numbers of a process in the innermost namespace; undefined: it is gone, or not shown. */
export async function numbersInside(pid: number): Promise<InsideNumbers | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const last = (name: string): number =>
    Number(new RegExp(`^${name}:.*\\s(\\d+)$`, 'm').exec(status)?.[1] ?? 0);
  const numbers = { pid: last('NSpid'), processGroup: last('NSpgid') };
  return numbers.pid > 0 && numbers.processGroup > 0 ? numbers : undefined;
}
