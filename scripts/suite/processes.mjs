// Processes of this machine, to be identified by the environment that they were started with, wherever
// they have moved since.

import { readdirSync, readFileSync } from 'node:fs';

/**
 * @typedef {{ pid: number, environment: readonly string[] }} Running An empty environment: the process
 * has ended, or is another user's.
 */

/** Lists all processes except this one. @returns {Running[]} */
export function others() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map(Number)
    .filter((pid) => pid !== process.pid)
    .map((pid) => ({ pid, environment: readList(pid, 'environ') }));
}

/** @param {number} pid */
export const commandLineOf = (pid) => readList(pid, 'cmdline').join(' ').trim();

/**
 * @param {number} pid
 * @param {'environ' | 'cmdline'} file
 */
function readList(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** @param {readonly { readonly pid: number }[]} all */
export function killAll(all) {
  for (const { pid } of all) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
}

/** @param {number} pid */
export function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
