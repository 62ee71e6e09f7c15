/** @import { Held } from './held.mjs' */
import { size } from '../rows.mjs';

/** The most that resident memory may grow after the first stretch, in bytes. */
const MOST_GROWTH = 2 * 1024 * 1024;

const COUNTS = /** @type {const} */ ([
  'descriptors',
  'threads',
  'children',
  'zombies',
  'helpers',
  'helperDescriptors',
  'temporaryFiles',
  'stateFiles',
]);

/** @typedef {readonly [when: string, held: Held]} Look */

/** Prints a look as a line, the first time with a head. @param {Look} look @param {boolean} isFirst */
export function printLook([when, held], isFirst) {
  const entries = /** @type {[keyof Held, number][]} */ (Object.entries(held));
  const isCount = (/** @type {string} */ name) => COUNTS.some((count) => count === name);
  const cells = entries.map(([name, value]) => {
    const text = isCount(name) ? String(value) : (value / 1024 / 1024).toFixed(2);
    return [name, text.padStart(name.length)];
  });
  if (isFirst) console.log(`\n${'(MiB)'.padEnd(12)} ${cells.map(([name]) => name).join(' ')}`);
  console.log(`${when.padEnd(12)} ${cells.map(([, text]) => text).join(' ')}`);
}

/**
 * What is more than it was, and must not be.
 * @param {Look} before @param {Look} after
 */
export function grown([, before], [when, after]) {
  const more = COUNTS.filter((name) => after[name] > before[name]).map(
    (name) => `${when}: ${after[name] - before[name]} more ${name}`,
  );
  const memory = /** @type {const} */ (['rss', 'keepersPrivate'])
    .map((name) => /** @type {const} */ ([name, after[name] - before[name]]))
    .filter(([, growth]) => growth > MOST_GROWTH)
    .map(([name, growth]) => `${when}: ${name} has grown by ${size(growth)}`);
  return [...more, ...memory];
}
