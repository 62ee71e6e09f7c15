/** @import { Machine } from './machines.mjs' */
/**
 * The result of a case. `kept` undefined: the protocol does not offer it.
 * @typedef {{ kept: boolean | undefined, note: string }} Verdict
 * @typedef {{ title: string, run(machine: Machine, directory: string): Promise<Verdict> }} Case
 */

/** @type {Verdict} */
export const NOT_OFFERED = { kept: undefined, note: 'not offered' };

/** Formats a time: `0.3 s`. @param {number} since */
export const secondsSince = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
