import { readFile } from 'node:fs/promises';
import type { OutOfMemory, RunResult } from '../../engine/outcome.js';
import { signalExitCode } from '../../support/signals.js';

/** The number of out-of-memory kills in the host's control group at one time. */
interface Count {
  readonly at: number;
  readonly kills: number;
}

/** The latest counts, oldest first. More than one is kept, since two commands may be killed at once. */
const counts: Count[] = [];
const MOST_COUNTS = 16;

const KILLED_EXIT_CODE = signalExitCode('SIGKILL');

/** Returns whether a SIGKILL that forkline did not send has ended the command or its last program. */
export function wasKilled({ outcome }: Pick<RunResult, 'outcome'>): boolean {
  if (outcome.kind === 'signaled') return outcome.signal === 'SIGKILL';
  return outcome.kind === 'exited' && outcome.exitCode === KILLED_EXIT_CODE;
}

/**
 * Adds to the result of a killed command whether memory ran out. Memory has likely run out if the control
 * group has counted an out-of-memory kill since the last count before the command began.
 */
export async function withMemoryChecked<Result extends Pick<RunResult, 'durationMs'>>(
  result: Result,
): Promise<Result & { readonly outOfMemory: OutOfMemory }> {
  return { ...result, outOfMemory: await memoryVerdict(performance.now() - result.durationMs) };
}

async function memoryVerdict(began: number): Promise<OutOfMemory> {
  const kills = await countKills();
  if (kills === undefined) return 'unknown';
  // Without an earlier count, all kills since the group was made count.
  const before = counts.findLast(({ at }) => at <= began)?.kills ?? 0;
  counts.push({ at: performance.now(), kills });
  if (counts.length > MOST_COUNTS) counts.shift();
  return kills > before ? 'likely' : 'no';
}

/** Reads the number of out-of-memory kills; undefined: no control group counts them, or it can't be read. */
async function countKills(): Promise<number | undefined> {
  const groups = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  for (const path of countFiles(groups)) {
    const text = await readFile(path, 'utf8').catch(() => '');
    const [, kills] = /^oom_kill (\d+)$/m.exec(text) ?? [];
    if (kills !== undefined) return Number(kills);
  }
  return undefined;
}

/**
 * The files that may have the count, found by the content of `/proc/self/cgroup`. In a container the path
 * there may be the machine's, while the mounted hierarchy begins with the container's own group.
 */
function countFiles(groups: string): string[] {
  return groups.split('\n').flatMap((line) => {
    const [, controllers, path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const folder = path === '/' ? '' : path;
    if (controllers === '') {
      return [`/sys/fs/cgroup${folder}/memory.events`, '/sys/fs/cgroup/memory.events'];
    }
    if (!controllers?.split(',').includes('memory')) return [];
    const root = '/sys/fs/cgroup/memory';
    return [`${root}${folder}/memory.oom_control`, `${root}/memory.oom_control`];
  });
}
