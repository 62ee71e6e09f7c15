/** @import { Scene } from './scene.mjs' */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { childrenOf } from '../left-processes.mjs';
import { openDescriptors, threads, zombies } from '../proc.mjs';
import { mainArenaBytes, privateBytes, rollup } from './memory.mjs';
import { helpersOf, isKeeper } from './processes.mjs';

/**
 * The resources of a process that runs commands, and of those that it has started to run them. Memory in bytes.
 * @typedef {object} Held
 * @property {number} descriptors
 * @property {number} threads
 * @property {number} children that have not ended
 * @property {number} zombies
 * @property {number} helpers keepers, cradles, sandboxes, shells that last, far sides; in all
 * @property {number} helperDescriptors
 * @property {number} temporaryFiles and directories below the temporary directory
 * @property {number} stateFiles and directories below the state directory
 * @property {number} rss
 * @property {number} pss
 * @property {number} anonymous
 * @property {number} privateDirty
 * @property {number} files pages of files: programs, libraries
 * @property {number} heapUsed of V8, by what lives
 * @property {number} heapPages of V8, resident
 * @property {number} external what JavaScript's objects hold outside of V8's heap, buffers among it
 * @property {number} arrayBuffers
 * @property {number} mainArena malloc's, which grows by brk(2)
 * @property {number} otherAnonymous malloc's other arenas and large blocks, V8's own structures, stacks
 * @property {number} keepersPrivate dirty pages of keepers and cradles, all together
 * @property {number} othersPrivate the same of shells that last, and of the far side, which has a V8 of its own
 */

/**
 * Measures the resources, after some time to release them.
 * @param {Scene} scene
 * @returns {Promise<Held>}
 */
export async function held({ temporary, state, folder }) {
  if (!globalThis.gc) throw new Error('needs node --expose-gc');
  // Cradles that are not used for a while end by themselves, and tasks are forgotten.
  await sleep(5000);
  for (let time = 0; time < 4; time++) {
    globalThis.gc();
    await sleep(50);
  }
  const { external, arrayBuffers } = process.memoryUsage();
  const heap = getHeapStatistics();
  const memory = rollup('self');
  const mainArena = mainArenaBytes();
  const helpers = helpersOf(folder);
  return {
    descriptors: openDescriptors(),
    threads: threads(),
    children: childrenOf(process.pid).length - zombies(),
    zombies: zombies(),
    helpers: helpers.length,
    helperDescriptors: sum(helpers.map((pid) => openDescriptors(pid))),
    temporaryFiles: entries(temporary),
    stateFiles: entries(state),
    ...memory,
    heapUsed: heap.used_heap_size,
    heapPages: heap.total_physical_size,
    external,
    arrayBuffers,
    mainArena,
    otherAnonymous: memory.anonymous - mainArena - heap.total_physical_size,
    keepersPrivate: sum(helpers.filter(isKeeper).map(privateBytes)),
    othersPrivate: sum(helpers.filter((pid) => !isKeeper(pid)).map(privateBytes)),
  };
}

/** @param {readonly number[]} numbers */
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** @param {string} path */
const entries = (path) => readdirSync(path, { recursive: true }).length;
