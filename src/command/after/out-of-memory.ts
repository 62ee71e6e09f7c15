import { readFile } from 'node:fs/promises';
import type { OutOfMemory, RunResult } from '../../engine/outcome.js';
import { signalExitCode } from '../../support/signals.js';

/** How often the kernel had ended a process of the host's control group for want of memory. */
interface Count {
  readonly at: number;
  readonly kills: number;
}

/** What was seen, from the oldest look to the newest; two commands may have been ended at once. */
const seen: Count[] = [];
const MOST_SEEN = 16;

const KILLED_EXIT_CODE = signalExitCode('SIGKILL');

/** Whether it ended by a SIGKILL that nobody of us sent, or its last program did. */
export function wasKilled({ outcome }: Pick<RunResult, 'outcome'>): boolean {
  if (outcome.kind === 'signaled') return outcome.signal === 'SIGKILL';
  return outcome.kind === 'exited' && outcome.exitCode === KILLED_EXIT_CODE;
}

/**
 * The result of a command that was killed, with whether that was for want of memory, as far as the
 * control group tells: has it counted such an end since the last look before the command began?
 */
export async function withMemoryChecked<Result extends Pick<RunResult, 'durationMs'>>(
  result: Result,
): Promise<Result & { readonly outOfMemory: OutOfMemory }> {
  return { ...result, outOfMemory: await judge(performance.now() - result.durationMs) };
}

async function judge(began: number): Promise<OutOfMemory> {
  const kills = await countKills();
  if (kills === undefined) return 'unknown';
  // Nobody looked before: the group's own beginning counts.
  const before = seen.findLast(({ at }) => at <= began)?.kills ?? 0;
  seen.push({ at: performance.now(), kills });
  if (seen.length > MOST_SEEN) seen.shift();
  return kills > before ? 'likely' : 'no';
}

/** Undefined: there is no control group that counts, or it cannot be read. */
async function countKills(): Promise<number | undefined> {
  const groups = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  for (const path of filesOf(groups)) {
    const text = await readFile(path, 'utf8').catch(() => '');
    const [, kills] = /^oom_kill (\d+)$/m.exec(text) ?? [];
    if (kills !== undefined) return Number(kills);
  }
  return undefined;
}

/**
 * The files that may tell, by what `/proc/self/cgroup` says. In a container the group's path may be
 * that of the machine, while what is mounted begins with the container's own.
 */
function filesOf(groups: string): string[] {
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
