/** @import { Report, Rounds, Row, Target } from './types.d.ts' */
import { medians, ratio } from './statistics.mjs';

/**
 * @param {number} limit
 * @param {string} [text]
 * @returns {Target}
 */
export const atMost = (limit, text = `≤ ${limit}`) => ({
  text,
  holds: (value) => value <= limit,
});

/**
 * @param {number} limit
 * @returns {Target}
 */
export const atLeast = (limit) => ({ text: `≥ ${limit}`, holds: (value) => value >= limit });

/** @param {number} value */
export const times = (value) => value.toFixed(value < 0.1 ? 3 : 2);

/** @param {number} value */
export function milliseconds(value) {
  if (value < 1) return `${(value * 1000).toFixed(0)} µs`;
  return `${value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0)} ms`;
}

/** @param {number} bytes */
export function size(bytes) {
  const kib = bytes / 1024;
  return Math.abs(kib) < 1024 ? `${kib.toFixed(0)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}

/** @param {number} fraction */
export const percent = (fraction) => `${(fraction * 100).toFixed(1)} %`;

/**
 * A line that is judged by a ratio, or tells it alone.
 * @param {object} line
 * @param {string} line.id
 * @param {string} line.what
 * @param {string} line.figure
 * @param {string} line.to
 * @param {number} line.value
 * @param {Target} [line.target] absent: for information
 * @param {number} [line.launchRatio]
 * @param {Record<string, string>} [line.others]
 * @returns {Row}
 */
export const ratioRow = ({ id, what, figure, to, value, target, launchRatio, others = {} }) => ({
  id,
  what,
  figure,
  ratio: { to, value },
  ...(launchRatio === undefined ? {} : { launchRatio }),
  ...judged(value, target),
  others,
});

/**
 * A line that is judged by the figure itself, or tells it alone.
 * @param {object} line
 * @param {string} line.id
 * @param {string} line.what
 * @param {string} line.figure
 * @param {number} line.value
 * @param {Target} [line.target] absent: for information
 * @param {Record<string, string>} [line.others]
 * @returns {Row}
 */
export const figureRow = ({ id, what, figure, value, target, others = {} }) => ({
  id,
  what,
  figure,
  ...judged(value, target),
  others,
});

/**
 * @param {number} value
 * @param {Target} [target]
 */
const judged = (value, target) =>
  target === undefined ? {} : { target: target.text, met: target.holds(value) };

/**
 * The ratios of peers to one of them, as the table shows them.
 * @param {(name: string) => Rounds} samples
 * @param {readonly string[]} names
 * @param {string} to
 * @param {'time' | 'speed'} [kind] speed: the inverse, where more is better
 */
export function ratiosTo(samples, names, to, kind = 'time') {
  return Object.fromEntries(
    names.map((name) => {
      const [a, b] = kind === 'time' ? [name, to] : [to, name];
      return [name, times(ratio(samples(a), samples(b)))];
    }),
  );
}

/**
 * @param {readonly Row[]} rows
 * @param {(name: string) => Rounds} samples
 * @param {readonly string[]} names
 * @returns {Report}
 */
export const report = (rows, samples, names) => ({
  rows,
  medians: Object.fromEntries(names.map((name) => [name, medians(samples(name))])),
});
