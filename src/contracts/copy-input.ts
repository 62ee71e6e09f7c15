/** Deeper than any field of a tool. */
const MOST_LEVELS = 4;

/**
 * A copy of what a model has given, which is JSON: objects and arrays. What is something else, or
 * lies deeper than any schema of ours looks, is not copied.
 */
export function copyInput(value: unknown, levels = MOST_LEVELS): unknown {
  if (levels === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyInput(item, levels - 1));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, item]) => [name, copyInput(item, levels - 1)]));
}

/** Also one of another realm, whose `Object` is another one. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
