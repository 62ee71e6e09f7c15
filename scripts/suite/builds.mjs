// Builds files that are missing or older than their sources, for one run at a time: another run, which
// may be testing, keeps the files that it uses.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lives } from './processes.mjs';
import { builds, staleness } from './stale.mjs';

/**
 * @param {string} root The checkout.
 * @param {(script: string) => Promise<boolean>} build Runs an npm script, and returns whether it
 * succeeded.
 * @returns {Promise<boolean>} Whether all required files exist.
 */
export async function buildWhatIsStale(root, build) {
  const unlock = await lock(root);
  try {
    for (const each of builds) {
      const reason = staleness(root, each);
      if (reason === undefined) continue;
      console.log(`${reason}: npm run ${each.script}`);
      const isBuilt = await build(each.script);
      if (!isBuilt && !each.optional) return false;
    }
    return true;
  } finally {
    unlock();
  }
}

/**
 * Waits until no other run builds.
 * @param {string} root
 */
async function lock(root) {
  const file = join(root, 'build', 'tests.lock');
  mkdirSync(join(root, 'build'), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, `${process.pid}`, { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    // A killed run has left the lock.
    if (!lives(readHolder(file))) rmSync(file, { force: true });
    await sleep(200);
  }
}

/** @param {string} file */
function readHolder(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}
