// A closed queue of commands: each passes the main thread, the launcher, a processor, the reactor and the main thread
// again, and is then followed by the next one of its lane.

/**
 * What one command takes of each, in µs.
 * @typedef {object} Shares
 * @property {number} main the main thread, half of it before the command and half after
 * @property {number} launcher
 * @property {number} reactor
 * @property {number} command the command itself, and its cradle, which run on any processor
 */

/** @typedef {{ processors: number, mainThreads: number, lanes: number, commands: number }} Machine */

/**
 * Returns commands a second. Times are exponential around the measured ones, from a fixed seed.
 * @param {Shares} shares
 * @param {Machine} machine
 */
export function simulate(shares, { processors, mainThreads, lanes, commands }) {
  const random = seeded(1);
  /** @param {number} mean */
  const around = (mean) => -Math.log(1 - random()) * mean;
  const stations = [
    { free: Array.from({ length: mainThreads }, () => 0), mean: shares.main / 2 },
    { free: [0], mean: shares.launcher },
    { free: Array.from({ length: processors }, () => 0), mean: shares.command },
    { free: [0], mean: shares.reactor },
  ];
  const [main] = stations;
  const path = main === undefined ? [] : [...stations, main];
  /** @type {{ at: number, step: number }[]} */
  const waiting = Array.from({ length: lanes }, () => ({ at: 0, step: 0 }));
  let [done, last] = [0, 0];
  while (done < commands) {
    const next = earliest(waiting);
    const station = path[next.step];
    if (station === undefined) break;
    const server = earliestOf(station.free);
    const end = Math.max(next.at, station.free[server] ?? 0) + around(station.mean);
    station.free[server] = end;
    next.at = end;
    next.step = (next.step + 1) % path.length;
    if (next.step === 0) {
      done += 1;
      last = Math.max(last, end);
    }
  }
  return (done / last) * 1e6;
}

/** @param {readonly { at: number, step: number }[]} waiting */
const earliest = (waiting) => waiting.reduce((one, other) => (other.at < one.at ? other : one));

/** @param {readonly number[]} times */
const earliestOf = (times) => times.indexOf(Math.min(...times));

/**
 * Numbers from 0 to 1, the same ones for the same seed (mulberry32).
 * @param {number} seed
 */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
