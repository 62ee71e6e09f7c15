import { readFile, readlink } from 'node:fs/promises';
import { inBatches } from '../../support/batches.js';

/** The input that a process waits for: keys of its terminal, or data on its standard input. */
export type InputWait = 'terminal' | 'stdin';

/** System calls by their numbers: those that read, and those that wait for file descriptors below a limit. */
const CALLS: Readonly<Record<string, { readonly reads: string; readonly selects: string[] }>> = {
  x64: { reads: '0', selects: ['23', '270'] },
  arm64: { reads: '63', selects: ['72'] },
};

/**
 * Returns the input that one of these processes waits for. Undefined: none does, or it could not be seen:
 * the kernel shows only to some users which system call a process is in.
 */
export async function waitsForInput(pids: readonly number[]): Promise<InputWait | undefined> {
  const waits = await inBatches(pids, waitOf);
  return waits.find((wait) => wait !== undefined);
}

async function waitOf(pid: number): Promise<InputWait | undefined> {
  const calls = CALLS[process.arch];
  if (calls === undefined) return undefined;
  try {
    // Number and arguments of the system call that it sleeps in: `0 0x0 0x7ffd… …`.
    const call = await readFile(`/proc/${pid}/syscall`, 'latin1');
    const [number = '', first = ''] = call.split(' ');
    const descriptor = descriptorOf(number, Number.parseInt(first, 16), calls);
    if (descriptor === undefined) return undefined;
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`);
    if (/^\/dev\/(?:pts\/\d+|tty.*|console)$/.test(target)) return 'terminal';
    return descriptor === 0 && /^(?:pipe|socket):/.test(target) ? 'stdin' : undefined;
  } catch {
    return undefined;
  }
}

function descriptorOf(
  number: string,
  first: number,
  { reads, selects }: { readonly reads: string; readonly selects: string[] },
): number | undefined {
  if (number === reads) return first;
  // `select` takes the highest descriptor plus one: below 1 there is only stdin.
  return selects.includes(number) && first === 1 ? 0 : undefined;
}
