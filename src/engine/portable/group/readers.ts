import { readFile, readlink } from 'node:fs/promises';
import { inBatches } from '../../../support/batches.js';
import type { ListedProcess } from './processes.js';

/** In commands with more processes, all are ended at once: looking at each would take too long. */
const MOST_PROCESSES = 256;

/**
 * Finds the readers of pipelines among a command's processes: those that are to see end of file, once what
 * writes to them has ended, and print what they hold. Only Linux tells: elsewhere there are none.
 */
export async function pipelineReaders(
  family: readonly ListedProcess[],
): Promise<ReadonlySet<ListedProcess>> {
  if (process.platform !== 'linux' || family.length < 2 || family.length > MOST_PROCESSES) {
    return new Set();
  }
  const parents = new Set(family.map(({ parent }) => parent));
  const seen = await inBatches(family, async (one) => {
    // A process with children is a shell that would go on with its loop.
    const input = parents.has(one.pid) ? undefined : await pipeOf(one.pid, 0);
    const outputs = [await pipeOf(one.pid, 1), await pipeOf(one.pid, 2)];
    const isReader = input !== undefined && (await takesInput(one.pid));
    return { one, outputs, input: isReader ? input : undefined };
  });
  return fed(seen);
}

/** Returns the ids of those that have started one of the readers, or what has started it. */
export function ancestorsOf(
  readers: Iterable<ListedProcess>,
  others: readonly ListedProcess[],
): ReadonlySet<number> {
  const byPid = new Map(others.map((one) => [one.pid, one]));
  const found = new Set<number>();
  for (const reader of readers) {
    let next = byPid.get(reader.parent);
    while (next !== undefined && !found.has(next.pid)) {
      found.add(next.pid);
      next = byPid.get(next.parent);
    }
  }
  return found;
}

interface PipedProcess {
  readonly one: ListedProcess;
  /** The pipe that it reads, if it may be a reader. */
  readonly input: string | undefined;
  readonly outputs: readonly (string | undefined)[];
}

/** Returns the readers at whose beginning is a program that reads none of these pipes. */
function fed(seen: readonly PipedProcess[]): ReadonlySet<ListedProcess> {
  const readers = new Set<ListedProcess>();
  let before = -1;
  while (before < readers.size) {
    before = readers.size;
    for (const { one, input } of seen) {
      const writes = (other: PipedProcess): boolean =>
        other.one !== one &&
        other.outputs.includes(input) &&
        (other.input === undefined || readers.has(other.one));
      if (input !== undefined && seen.some(writes)) readers.add(one);
    }
  }
  return readers;
}

async function pipeOf(pid: number, descriptor: number): Promise<string | undefined> {
  const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
  return target.startsWith('pipe:') ? target : undefined;
}

/** System calls in which a program sleeps that neither takes nor gives data: sleeps, and waits for children. */
const IDLE: Readonly<Record<string, readonly string[]>> = {
  x64: ['34', '35', '61', '130', '230', '247'],
  arm64: ['95', '101', '115', '133', '260'],
};

async function takesInput(pid: number): Promise<boolean> {
  const call = await readFile(`/proc/${pid}/syscall`, 'latin1').catch(() => '');
  const [number = ''] = call.split(' ');
  return !(IDLE[process.arch] ?? []).includes(number);
}
