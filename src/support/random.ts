/**
 * Bytes that nobody can guess. What makes them is loaded at the first call: that takes 3 ms, which
 * whoever imports this package and runs commands need not wait for.
 */
export function randomBytes(count: number): Buffer {
  return process.getBuiltinModule('node:crypto').randomBytes(count);
}

/** A name that nobody else makes. It can be guessed, and takes nothing to be loaded. */
export function uniqueName(): string {
  return [Math.random(), Math.random()].map((number) => number.toString(36).slice(2)).join('');
}
