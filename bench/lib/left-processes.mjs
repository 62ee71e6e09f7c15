// What a suite has left running: it is adopted by the runner, which has no other children by then.
import { readdirSync, readFileSync } from 'node:fs';

/** Sends SIGKILL to all descendants of this process. A child that is adopted meanwhile is found by the next look. */
export function killDescendants() {
  for (let looks = 0; looks < 20; looks += 1) {
    const found = descendantsOf(process.pid);
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended since the look.
      }
    }
  }
}

/**
 * Returns the descendants that run; without those that have ended and were not waited for.
 * @param {number} pid
 * @returns {number[]}
 */
function descendantsOf(pid) {
  return childrenOf(pid).flatMap((child) => [
    ...(identityOf(child)?.state === 'Z' ? [] : [child]),
    ...descendantsOf(child),
  ]);
}

/**
 * Returns the children of a process, by all of its threads.
 * @param {number} pid
 * @returns {number[]}
 */
export function childrenOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'),
    );
    return lists.join(' ').split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // ended since it was found
  }
}

/**
 * Returns what tells a process from a later one with its id, and its state; undefined: it does not exist.
 * @param {number} pid
 */
export function identityOf(pid) {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
    const [state, ...fields] = afterName.split(' ');
    return { state, startedAt: fields[18] };
  } catch {
    return undefined;
  }
}
