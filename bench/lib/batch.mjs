/**
 * The number of commands in each round of `p2`.
 * @param {boolean} quick
 */
export const batchOf = (quick) => (quick ? 192 : 512);
