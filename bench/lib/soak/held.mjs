import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDescriptors, residentBytes, threads, zombies } from '../proc.mjs';

/**
 * The resources that a process holds.
 * @typedef {object} Held
 * @property {number} descriptors
 * @property {number} threads
 * @property {number} children that have not ended
 * @property {number} zombies
 * @property {number} files and directories in its user's temporary directory, which stays
 * @property {number} heapBytes in use
 * @property {number} residentBytes
 */

/**
 * Measures the resources, after some time to release them.
 * @param {string} folder for temporary files
 * @returns {Promise<Held>}
 */
export async function held(folder) {
  if (!globalThis.gc) throw new Error('needs node --expose-gc');
  // Cradles that are not used for a while end by themselves.
  await sleep(3000);
  for (let time = 0; time < 4; time++) {
    globalThis.gc();
    await sleep(50);
  }
  return {
    descriptors: openDescriptors(),
    threads: threads(),
    children: children() - zombies(),
    zombies: zombies(),
    files: readdirSync(folder, { recursive: true }).filter((path) => path.includes('/')).length,
    heapBytes: process.memoryUsage().heapUsed,
    residentBytes: residentBytes(),
  };
}

function children() {
  const listed = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim();
  return listed === '' ? 0 : listed.split(' ').length;
}
