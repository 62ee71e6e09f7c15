// Ends what a text has left running, by `bash -c` too, which ends nothing.

import { readlinkSync } from 'node:fs';
import { killAll, others } from '../suite/processes.mjs';

/**
 * Kills every process whose directory is in `folder`, or whose environment names its `tmp`: those of a
 * text, wherever they have gone since. Keepers have this process's directory and environment.
 * @param {string} folder Nothing but texts may run there.
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
    // It has ended meanwhile, or is another user's.
    return '';
  }
}
