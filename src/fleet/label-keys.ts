import { createHash } from 'node:crypto';

/** Labels of a worker at most: it can be found by each set of them. */
export const MOST_LABELS = 6;

/** Names and values of labels. */
export type Labels = Readonly<Record<string, string>>;

/** Returns the word of a subject that stands for a set of labels. */
export function labelsKey(labels: Labels): string {
  const entries = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length === 0) return 'any';
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 32);
}

/** Returns the words of all sets of labels by which a worker is found, also of the empty set. */
export function keysOf(labels: Labels): readonly string[] {
  let sets: readonly Labels[] = [{}];
  for (const [name, value] of Object.entries(labels)) {
    sets = [...sets, ...sets.map((set) => ({ ...set, [name]: value }))];
  }
  return sets.map(labelsKey);
}
