// Ends what a text has left running, by `bash -c` too, which ends nothing.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** @param {() => string} read A process may end meanwhile, and then has nothing. */
function orNothing(read) {
  try {
    return read();
  } catch {
    return '';
  }
}

/**
 * Kills every process whose directory is in `folder`, or whose environment names its `tmp`: those of a
 * text, wherever they have gone since. Keepers have this process's directory and environment.
 * @param {string} folder Nothing but texts may run there.
 */
export function endThose(folder) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) === process.pid) continue;
    const cwd = orNothing(() => readlinkSync(`/proc/${pid}/cwd`));
    const environment = orNothing(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
    if (!cwd.startsWith(`${folder}/`) && !environment.includes(`=${folder}/tmp\0`)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // Ended meanwhile.
    }
  }
}
