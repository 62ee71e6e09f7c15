// Ends the processes that a text has left running, also those of `bash -c`, which ends none.

import { readlinkSync } from 'node:fs';
import { killAll, others } from '../suite/processes.mjs';

/**
 * Kills every process whose directory is in `folder`, or whose environment names its `tmp`: the processes
 * of a text, wherever they have moved since. Keepers have this process's directory and environment.
 * @param {string} folder Only texts may run there.
 */
export function endThose(folder) {
  const isTheirs = (/** @type {import('../suite/processes.mjs').Running} */ { pid, environment }) =>
    directoryOf(pid).startsWith(`${folder}/`) ||
    environment.some((entry) => entry.endsWith(`=${folder}/tmp`));
  killAll(others().filter(isTheirs));
}

/** @param {number} pid */
function directoryOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // The process has ended meanwhile, or is another user's.
    return '';
  }
}
