/** @import { Rounds } from './types.d.ts' */

/**
 * The value at a fraction (0 to 1) of the sorted samples.
 * @param {readonly number[]} samples
 * @param {number} fraction
 */
export function quantile(samples, fraction) {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = [...samples].sort((a, b) => a - b);
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** @param {readonly number[]} samples */
export const median = (samples) => quantile(samples, 0.5);

/** @param {Rounds} rounds */
export const medians = (rounds) => rounds.map(median);

/** @param {Rounds} rounds */
export const overallMedian = (rounds) => median(rounds.flat());

/**
 * The ratio of `a` to `b`: the median of the rounds' own ratios. A load that slows the machine for a few
 * seconds slows both in that round, and so does not show.
 * @param {Rounds} a
 * @param {Rounds} b
 */
export function ratio(a, b) {
  const below = medians(b);
  return median(medians(a).map((value, round) => value / (below[round] ?? Number.NaN)));
}

/**
 * The difference of `a` and `b`: the median of the rounds' own differences, for the same reason.
 * @param {Rounds} a
 * @param {Rounds} b
 */
export function difference(a, b) {
  const below = medians(b);
  return median(medians(a).map((value, round) => value - (below[round] ?? Number.NaN)));
}
