// The threads and processes that carry out commands, found by their names.
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from '../left-processes.mjs';

/** @import { Kind, Task, Work } from './types.d.ts' */

/** @type {ReadonlyMap<string, Kind>} by the name, of which the kernel keeps fifteen characters */
const KINDS = new Map([
  ['forkline-launch', 'launcher'],
  ['forkline-reacto', 'reactor'],
]);
const KEEPER = 'forkline-keeper';

/** @param {string} path */
const read = (path) => readFileSync(path, 'utf8');

/** @param {number} pid */
function nameOf(pid) {
  try {
    return read(`/proc/${pid}/comm`).trim();
  } catch {
    return ''; // It has ended since it was found.
  }
}

/** Returns the tasks of this process: its threads, its keepers, and their cradles. */
export function tasks() {
  const threads = readdirSync('/proc/self/task').map(Number);
  const keepers = childrenOf(process.pid).filter((pid) => nameOf(pid) === KEEPER);
  return [
    ...threads.map((id) => task(id, kindOf(id))),
    ...keepers.map((id) => task(id, 'keeper')),
    // A child of a cradle between its clone and its exec has the cradle's name, but is not the keeper's child.
    ...keepers.flatMap(childrenOf).map((id) => task(id, 'cradle')),
  ];
}

/**
 * @param {number} id
 * @returns {Kind}
 */
function kindOf(id) {
  return id === process.pid ? 'main thread' : (KINDS.get(nameOf(id)) ?? 'other threads');
}

/**
 * @param {number} id
 * @param {Kind} kind
 * @returns {Task}
 */
const task = (id, kind) => ({ id, kind });

/**
 * Returns what these tasks have done; with `before`, since then.
 * @param {readonly Task[]} found
 * @param {ReadonlyMap<number, number>} [allocations] by task
 * @param {ReadonlyMap<number, Work>} [before]
 * @returns {Map<number, Work>}
 */
export function workOf(found, allocations, before) {
  const all = new Map();
  for (const { id, kind } of found) {
    const now = workNow(id, kind, allocations?.get(id));
    const then = before?.get(id);
    if (now !== undefined) all.set(id, then === undefined ? now : less(now, then));
  }
  return all;
}

/**
 * @param {number} id
 * @param {Kind} kind
 * @param {number | undefined} allocations
 * @returns {Work | undefined}
 */
function workNow(id, kind, allocations) {
  try {
    const status = read(`/proc/${id}/status`);
    return {
      kind,
      voluntary: numberIn(status, 'voluntary_ctxt_switches'),
      preempted: numberIn(status, 'nonvoluntary_ctxt_switches'),
      cpuNs: Number(read(`/proc/${id}/schedstat`).split(' ')[0]),
      ...(allocations !== undefined && { allocations }),
    };
  } catch {
    return undefined; // It has ended.
  }
}

/**
 * @param {string} status
 * @param {string} name
 */
const numberIn = (status, name) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]);

/**
 * @param {Work} now
 * @param {Work} then
 * @returns {Work}
 */
const less = (now, then) => ({
  kind: now.kind,
  voluntary: now.voluntary - then.voluntary,
  preempted: now.preempted - then.preempted,
  cpuNs: now.cpuNs - then.cpuNs,
  ...(now.allocations !== undefined && {
    allocations: now.allocations - (then.allocations ?? 0),
  }),
});
