// How a row has changed since another run: by its ratio, where both have one to the same program, since that
// depends less on the machine; else by its figure.
/** @import { OtherRow } from './other-run.mjs' */

/** What the units of figures are in the smallest of their kind. */
const UNITS = new Map([
  ['µs', { kind: 'time', scale: 1 }],
  ['ms', { kind: 'time', scale: 1000 }],
  ['KiB', { kind: 'size', scale: 1 }],
  ['MiB', { kind: 'size', scale: 1024 }],
  ['%', { kind: 'share', scale: 1 }],
  ['/s', { kind: 'rate', scale: 1 }],
  ['MB/s', { kind: 'speed', scale: 1 }],
  ['', { kind: 'number', scale: 1 }],
]);
const FIGURE = String.raw`(-?\d+(?:\.\d+)?) ?(µs|ms|KiB|MiB|%|/s|MB/s|)`;

/** @param {string} figure as the table shows it */
function quantity(figure) {
  const [, number = '', unit = ''] = new RegExp(`^${FIGURE}$`).exec(figure) ?? [];
  const { kind, scale } = UNITS.get(unit) ?? { kind: 'number', scale: 1 };
  return { kind, value: number === '' ? Number.NaN : Number(number) * scale };
}

/**
 * The program of a ratio, without the figure that stands behind its name.
 * @param {string} to
 */
const program = (to) => to.replace(new RegExp(` ${FIGURE}$`), '');

/**
 * Returns whether both ratios of a row are to the same program.
 * @param {OtherRow} now
 * @param {OtherRow} before
 */
export const sameProgram = ({ ratio: now }, { ratio: before }) =>
  now !== undefined && before !== undefined && program(now.to) === program(before.to);

/**
 * Returns the change in words, such as `ratio -12.0 %, better`.
 * @param {OtherRow} now
 * @param {OtherRow} before
 */
export function change(now, before) {
  const isSpeed = now.figure.endsWith('/s');
  if (now.ratio !== undefined && before.ratio !== undefined && sameProgram(now, before)) {
    return `ratio ${relative(now.ratio.value, before.ratio.value, isSpeed)}`;
  }
  const [after, earlier] = [quantity(now.figure), quantity(before.figure)];
  if (after.kind !== earlier.kind) return 'not comparable';
  return `figure ${relative(after.value, earlier.value, isSpeed)}`;
}

/**
 * @param {number} now
 * @param {number} before
 * @param {boolean} isSpeed more is better
 */
function relative(now, before, isSpeed) {
  if (Number.isNaN(now - before)) return 'unknown';
  if (now === before) return 'the same';
  const verdict = now > before === isSpeed ? 'better' : 'worse';
  // From nothing, or across it, there is no share.
  if (before <= 0 || now < 0) return verdict;
  const percent = (now / before - 1) * 100;
  const shown = percent.toFixed(Math.abs(percent) < 10 ? 1 : 0);
  return Number(shown) === 0 ? 'the same' : `${percent > 0 ? '+' : ''}${shown} %, ${verdict}`;
}
