/** @import { Suite } from './types.d.ts' */

/** @type {ReadonlyMap<string, () => Promise<{ suite: Suite }>>} by the name on the command line */
const SUITES = new Map([
  ['p1', () => import('../suites/latency.mjs')],
  ['p2', () => import('../suites/throughput.mjs')],
  ['p3', () => import('../suites/main-thread.mjs')],
  ['p4', () => import('../suites/parent-size.mjs')],
  ['p6', () => import('../suites/drain.mjs')],
  ['p7', () => import('../suites/spill.mjs')],
  ['p8', () => import('../suites/memory.mjs')],
  ['p9', () => import('../suites/in-flight.mjs')],
  ['p10', () => import('../suites/tree.mjs')],
  ['p11', () => import('../suites/tool.mjs')],
  ['p12', () => import('../suites/mcp.mjs')],
  ['p13', () => import('../suites/import.mjs')],
  ['p14', () => import('../suites/snapshot.mjs')],
  ['p16', () => import('../suites/sandbox.mjs')],
  ['p17', () => import('../suites/fleet.mjs')],
  ['p18', () => import('../suites/rollouts.mjs')],
  ['p19', () => import('../suites/first-calls.mjs')],
  ['p20', () => import('../suites/executed.mjs')],
  ['p22', () => import('../suites/small.mjs')],
  ['p23', () => import('../suites/large.mjs')],
  ['p24', () => import('../suites/undone.mjs')],
  ['descriptors', () => import('../suites/descriptors.mjs')],
  ['past', () => import('../suites/past.mjs')],
]);

export const SUITE_NAMES = [...SUITES.keys()];

/**
 * @param {string} name
 * @returns {Promise<Suite>}
 */
export async function loadSuite(name) {
  const load = SUITES.get(name);
  if (!load) throw new RangeError(`no suite is named ${name}`);
  return (await load()).suite;
}
