// Processes that a long life has started and that still run.
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from '../left-processes.mjs';

/**
 * Returns those that descend from this process, or have an environment that names the folder: keepers of detached
 * commands, and what has left its parent.
 * @param {string} folder
 */
export function helpersOf(folder) {
  const all = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);
  const named = all.filter((pid) => read(`/proc/${pid}/environ`).includes(folder));
  return [...new Set([...below(process.pid), ...named])];
}

/** How many there are of each program. @param {readonly number[]} pids */
export function byName(pids) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const pid of pids) {
    const name = read(`/proc/${pid}/comm`).trim();
    if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort().map(([name, count]) => `${name} ${count}`);
}

/** Whether a process is forkline's own, in Rust. @param {number} pid */
export const isKeeper = (pid) => read(`/proc/${pid}/comm`).startsWith('forkline-');

/** @param {number} pid @returns {number[]} */
const below = (pid) => childrenOf(pid).flatMap((child) => [child, ...below(child)]);

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
