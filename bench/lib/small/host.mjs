// The host of P22, in a process of its own: runs `echo hi` so many times by one program.
import { ECHO, echo, inFlight } from '../tasks.mjs';

/**
 * @typedef {object} Found
 * @property {number} ms for all of them
 * @property {number} errors the commands that failed, or printed something else
 */

const WARM_UP = 64;

const [name = '', ...numbers] = process.argv.slice(2);
const [count = 0, limit = 0] = numbers.map(Number);

// Each is loaded late, since a host has memory for what it needs alone.
/** @type {Record<string, () => Promise<import('../types.d.ts').Peer>>} */
const PEERS = {
  forkline: async () => (await import('../../peers/forkline.mjs')).forkline,
  child_process: async () => (await import('../../peers/child-process.mjs')).childProcess,
  execa: async () => (await import('../../peers/execa.mjs')).execa,
};

/** @type {Record<string, import('../floor.mjs').Way>} */
const FLOORS = { floor: 'spawn', 'cradle floor': 'cradle' };

/**
 * @param {import('../floor.mjs').Way} way
 * @returns {Promise<Found>}
 */
async function byFloor(way) {
  const { throughput } = await import('../floor.mjs');
  throughput(way, ECHO, WARM_UP, limit);
  return { ms: throughput(way, ECHO, count, limit), errors: 0 };
}

/** @returns {Promise<Found>} */
async function byPeer() {
  const peer = await PEERS[name]?.();
  if (peer === undefined) throw new RangeError(`no program is named ${name}`);
  let errors = 0;
  const one = () =>
    echo(peer).catch((error) => {
      if (errors === 0) console.error(`${name}: ${error}`);
      errors += 1;
    });
  await inFlight(WARM_UP, limit, one);
  const start = performance.now();
  await inFlight(count, limit, one);
  return { ms: performance.now() - start, errors };
}

const way = FLOORS[name];
console.log(JSON.stringify(await (way === undefined ? byPeer() : byFloor(way))));
