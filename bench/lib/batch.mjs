/**
 * How many commands each round of `p2` has.
 * @param {boolean} quick
 */
export const batchOf = (quick) => (quick ? 192 : 512);
