import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../support/timing.js';

/** How long the process beside a sandbox may take to see that a command has ended, in milliseconds, at most. */
const LATEST_MS = 5000;
const PAUSE_MS = 1;

/**
 * Waits until it is written down how all was at the end of a command: what is changed from then on is not the
 * command's. Its journal is locked meanwhile.
 */
export async function untilWritten(directory: string, id: string): Promise<void> {
  const until = performance.now() + LATEST_MS;
  try {
    const { ino } = await stat(join(directory, id, 'log'));
    // The device is that of the file system, which is not always the one that stat() tells.
    const locked = new RegExp(`FLOCK .*:${ino} `);
    while (performance.now() < until && locked.test(await readFile('/proc/locks', 'utf8'))) {
      await pause(PAUSE_MS);
    }
  } catch {
    // It is gone, or there is no /proc: what is there now is told.
  }
}
