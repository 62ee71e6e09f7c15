// Values that a seed decides.

/** @typedef {ReturnType<typeof randomFrom>} Random */

/** @param {number} seed */
export function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 to below this one. @param {number} below */
  const below = (below) => Math.floor(next() * below);
  return {
    below,
    /** @template T @param {readonly [T, ...T[]]} among @returns {T} */
    pick: (among) => among[below(among.length)] ?? among[0],
    /** What one of these makes. @param {readonly (() => string)[]} makers @returns {string} */
    text: (makers) => makers[below(makers.length)]?.() ?? '',
    /** Whether something is so, once in so many times. @param {number} times */
    oneIn: (times) => below(times) === 0,
  };
}
