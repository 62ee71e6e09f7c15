/** @import { Kind } from './kind.d.ts' */

/**
 * Spreads seldom kinds evenly among frequent ones, the same way in each run: a seldom kind is due when as many
 * commands have begun as it says, and the frequent ones take turns in between.
 * @param {readonly ((index: number) => Promise<unknown>)[]} frequent
 * @param {readonly Kind[]} seldom
 */
export function mix(frequent, seldom) {
  // They begin at different times, so that not all are due at once.
  const due = seldom.map((kind, place) => (kind.every * (place + 1)) / (seldom.length + 1));
  /** @type {Map<string, number>} */
  const counts = new Map();
  let plain = 0;
  /** @param {number} index */
  const command = async (index) => {
    const place = due.findIndex((at) => at <= index);
    const kind = seldom[place];
    if (kind === undefined) {
      plain += 1;
      return frequent[plain % frequent.length]?.(plain);
    }
    due[place] = (due[place] ?? 0) + kind.every;
    counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
    try {
      return await kind.work(index);
    } catch (error) {
      throw new Error(`${kind.name}, command ${index}`, { cause: error });
    }
  };
  /** How many of each kind there were. */
  const said = () => [`plain ${plain}`, ...[...counts].map(([name, count]) => `${name} ${count}`)];
  return { command, said };
}
